# The settings of a test cluster, read by kafka.sh; they depend on the variables nodes, secured, port, cluster and patience.
# Node I has four ports from port + 4·(I-1): clients, controller, clients with certificates, clients without TLS. The port
# after those of all nodes serves the keys of tokens.
# shellcheck shell=bash disable=SC2154

users=() # arguments that create users when storage is formatted

# describe writes the clients' settings into the folder of the cluster.
describe() {
  addresses 0 >"$cluster/brokers"
  realpath "${BASH_SOURCE[0]%-settings.sh}.sh" >"$cluster/script"
  if [[ -n $secured ]]; then
    addresses 2 >"$cluster/brokers-mutual"
    addresses 3 >"$cluster/brokers-readable"
    openssl rand -hex 12 >"$cluster/password"
    certificates
    signer
    local mechanism
    for mechanism in SCRAM-SHA-256 SCRAM-SHA-512; do
      users+=(--add-scram "$mechanism=[name=admin,password=$(cat "$cluster/password")]")
    done
  fi
}

# addresses prints the addresses of one of the four ports on each node.
addresses() {
  local i list=()
  for ((i = 0; i < nodes; i++)); do list+=("127.0.0.1:$((port + 4 * i + $1))"); done
  (IFS=, && echo "${list[*]}")
}

# certificates makes an authority, a certificate for all nodes, and one for a client.
certificates() (
  cd "$cluster" || return
  authority -subj "/CN=authority of the tests" -addext basicConstraints=critical,CA:TRUE -keyout ca.key -out ca.pem
  authority -subj /CN=kafka -addext subjectAltName=IP:127.0.0.1,DNS:localhost -CA ca.pem -CAkey ca.key \
    -keyout node.key -out node.crt
  authority -subj /CN=client -CA ca.pem -CAkey ca.key -keyout client.key -out client.pem
  cat node.key node.crt >node.pem
)

# signer makes the key that signs tokens, and serves its public half to brokers on loopback, as a JSON web key set.
signer() (
  mkdir "$cluster/jwks" && cd "$cluster/jwks" || return
  openssl genrsa -out ../signer.key 2048 2>>../openssl.log
  printf '{"keys": [{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1", "e": "AQAB", "n": "%s"}]}' "$(modulus)" >keys.json
  nohup openssl s_server -accept "127.0.0.1:$((port + 4 * nodes))" -cert "$cluster/node.crt" -key "$cluster/node.key" -WWW \
    </dev/null >../jwks.log 2>&1 &
  echo $! >pid
  disown
)

# modulus prints the key's modulus, as base64 for URLs.
modulus() {
  local hex
  hex=$(openssl rsa -in ../signer.key -noout -modulus | sed 's/.*=//; s/../\\x&/g')
  printf '%b' "$hex" | openssl base64 -A | tr '+/' '-_' | tr -d =
}

authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 7 "$@" 2>>openssl.log ||
    { cat openssl.log >&2 && fail "openssl could not make a certificate"; }
}

# settings prints the server.properties of a node.
settings() {
  local first=$((port + 4 * ($1 - 1))) replicas=$((nodes < 3 ? nodes : 3))
  echo "$((first + (${#secured} > 0 ? 3 : 0)))" >"$cluster/$1/readable-port"
  if [[ -n $secured ]]; then guarded "$first"; else open "$first"; fi
  cat <<PROPERTIES
process.roles=broker,controller
node.id=$1
controller.listener.names=CONTROLLER
controller.quorum.voters=$(voters)
log.dirs=$cluster/$1/data
default.replication.factor=$replicas
min.insync.replicas=$((replicas > 1 ? replicas - 1 : 1))
offsets.topic.replication.factor=$replicas
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=$replicas
transaction.state.log.min.isr=$((replicas > 1 ? replicas - 1 : 1))
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
PROPERTIES
  quick
  small
}

voters() {
  local i list=()
  for ((i = 1; i <= nodes; i++)); do list+=("$i@127.0.0.1:$((port + 4 * i - 3))"); done
  (IFS=, && echo "${list[*]}")
}

# quick shortens waits of tests: rebalances, the cleaner, the election of the preferred leader.
quick() {
  cat <<PROPERTIES
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=500
message.max.bytes=8388608
log.cleaner.backoff.ms=500
log.segment.delete.delay.ms=1000
leader.imbalance.check.interval.seconds=2
leader.imbalance.per.broker.percentage=0
PROPERTIES
}

# small limits a node to little memory on two busy processors. The cleaner alone would take 128 MB. A controller counts as
# lost after 10 s instead of 2, or a controller that gets no processor for a moment would cause repeated elections; a
# starting node may take as long as kafka.sh waits for it.
small() {
  cat <<PROPERTIES
broker.heartbeat.interval.ms=1000
controller.quorum.fetch.timeout.ms=10000
controller.quorum.election.timeout.ms=5000
controller.quorum.request.timeout.ms=5000
initial.broker.registration.timeout.ms=${patience}000
log.cleaner.dedupe.buffer.size=8388608
num.io.threads=4
num.network.threads=2
num.recovery.threads.per.data.dir=1
PROPERTIES
}

open() {
  cat <<PROPERTIES
listeners=PLAINTEXT://127.0.0.1:$1,CONTROLLER://127.0.0.1:$(($1 + 1))
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
PROPERTIES
}

# guarded makes nodes authenticate each other by certificate; nodes and the user admin may do everything. The token
# validator is named, because the default of Kafka 4.1.1 only parses tokens.
guarded() {
  local listener
  cat <<PROPERTIES
listeners=SASL_SSL://127.0.0.1:$1,CONTROLLER://127.0.0.1:$(($1 + 1)),SSL://127.0.0.1:$(($1 + 2)),SASL_PLAINTEXT://127.0.0.1:$(($1 + 3))
listener.security.protocol.map=CONTROLLER:SSL,SSL:SSL,SASL_SSL:SASL_SSL,SASL_PLAINTEXT:SASL_PLAINTEXT
inter.broker.listener.name=SSL
ssl.keystore.type=PEM
ssl.keystore.location=$cluster/node.pem
ssl.truststore.type=PEM
ssl.truststore.location=$cluster/ca.pem
listener.name.ssl.ssl.client.auth=required
listener.name.controller.ssl.client.auth=required
ssl.principal.mapping.rules=RULE:^CN=([^,]+)\$/\$1/
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:kafka;User:admin
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER
sasl.oauthbearer.jwt.validator.class=org.apache.kafka.common.security.oauthbearer.BrokerJwtValidator
sasl.oauthbearer.jwks.endpoint.url=https://127.0.0.1:$((port + 4 * nodes))/keys.json
sasl.oauthbearer.expected.issuer=issuer
sasl.oauthbearer.expected.audience=kafka
PROPERTIES
  for listener in sasl_ssl sasl_plaintext; do
    logins "listener.name.$listener" org.apache.kafka.common.security
  done
}

# logins defines who may log in: the user admin by PLAIN, users known to the cluster by SCRAM, the subject of a token by
# OAUTHBEARER as long as the token is valid. A broker has to log in itself if it knows token authorities.
logins() {
  cat <<PROPERTIES
$1.plain.sasl.jaas.config=$2.plain.PlainLoginModule required user_admin="$(cat "$cluster/password")";
$1.scram-sha-256.sasl.jaas.config=$2.scram.ScramLoginModule required;
$1.scram-sha-512.sasl.jaas.config=$2.scram.ScramLoginModule required;
$1.oauthbearer.sasl.jaas.config=$2.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="kafka" ssl.truststore.type="PEM" ssl.truststore.location="$cluster/ca.pem";
$1.oauthbearer.sasl.server.callback.handler.class=$2.oauthbearer.OAuthBearerValidatorCallbackHandler
$1.oauthbearer.connections.max.reauth.ms=3600000
PROPERTIES
}
