package kafkatest

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha512"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// patience bounds an administrative request.
const patience = time.Minute

// Right is one operation that a user may perform on a topic, a group, transactional ids, or the
// whole cluster.
type Right struct {
	Operation kmsg.ACLOperation
	Kind      kmsg.ACLResourceType
	Name      string // or the prefix of transactional ids
}

// pattern returns how the name is matched.
func (r Right) pattern() kmsg.ACLResourcePatternType {
	if r.Kind == kmsg.ACLResourceTypeTransactionalId {
		return kmsg.ACLResourcePatternTypePrefixed
	}
	return kmsg.ACLResourcePatternTypeLiteral
}

// Topic is a right on a topic.
func Topic(operation kmsg.ACLOperation, name string) Right {
	return Right{operation, kmsg.ACLResourceTypeTopic, name}
}

// Group is a right on a consumer group.
func Group(operation kmsg.ACLOperation, name string) Right {
	return Right{operation, kmsg.ACLResourceTypeGroup, name}
}

// TransactionalIDs is the right to fence with ids that have the prefix.
func TransactionalIDs(prefix string) Right {
	return Right{kmsg.ACLOperationWrite, kmsg.ACLResourceTypeTransactionalId, prefix}
}

func (r Right) String() string { return fmt.Sprintf("%v on %v %s", r.Operation, r.Kind, r.Name) }

// client connects as [Admin] for one request.
func (c *Cluster) client(t testing.TB) (*kgo.Client, context.Context, func()) {
	t.Helper()
	client, err := kgo.NewClient(c.Options(t)...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	return client, ctx, func() {
		cancel()
		client.Close()
	}
}

// AddUser creates a user without rights who authenticates by scram-sha-512.
func (c *Cluster) AddUser(t testing.TB, name, password string) {
	t.Helper()
	const iterations = 4096
	salt := []byte("salt of " + name)
	salted, err := pbkdf2.Key(sha512.New, password, salt, iterations, sha512.Size)
	if err != nil {
		t.Fatal(err)
	}
	user := kmsg.NewAlterUserSCRAMCredentialsRequestUpsertion()
	user.Name, user.Mechanism, user.Iterations = name, 2, iterations
	user.Salt, user.SaltedPassword = salt, salted
	request := kmsg.NewAlterUserSCRAMCredentialsRequest()
	request.Upsertions = append(request.Upsertions, user)
	client, ctx, done := c.client(t)
	defer done()
	answer, err := request.RequestWith(ctx, client)
	if err == nil {
		err = kerr.ErrorForCode(answer.Results[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("add user %s: %v", name, err)
	}
}

// Grant grants rights to a user, and returns when they are in force.
func (c *Cluster) Grant(t testing.TB, user string, rights ...Right) {
	t.Helper()
	request := kmsg.NewCreateACLsRequest()
	for _, r := range rights {
		acl := kmsg.NewCreateACLsRequestCreation()
		acl.Principal, acl.Host = "User:"+user, "*"
		acl.ResourceType, acl.ResourceName, acl.Operation = r.Kind, r.Name, r.Operation
		acl.ResourcePatternType, acl.PermissionType = r.pattern(), kmsg.ACLPermissionTypeAllow
		request.Creations = append(request.Creations, acl)
	}
	client, ctx, done := c.client(t)
	defer done()
	answer, err := request.RequestWith(ctx, client)
	if err == nil {
		for _, result := range answer.Results {
			err = kerr.ErrorForCode(result.ErrorCode)
		}
	}
	if err != nil {
		t.Fatalf("grant %v to %s: %v", rights, user, err)
	}
	for _, r := range rights {
		awaitRight(t, client, user, r, true)
	}
}

// awaitRight returns when the nodes know about a change of rights: the controller answers before
// they do.
func awaitRight(t testing.TB, client *kgo.Client, user string, r Right, there bool) {
	t.Helper()
	principal, host := "User:"+user, "*"
	request := kmsg.NewDescribeACLsRequest()
	request.Principal, request.Host, request.ResourceName = &principal, &host, &r.Name
	request.ResourceType, request.Operation = r.Kind, r.Operation
	request.ResourcePatternType, request.PermissionType = r.pattern(), kmsg.ACLPermissionTypeAllow
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; <-tick.C {
		known := 0
		for _, shard := range client.RequestSharded(context.Background(), &request) {
			if answer, ok := shard.Resp.(*kmsg.DescribeACLsResponse); ok && shard.Err == nil && len(answer.Resources) > 0 {
				known++
			}
		}
		if there == (known > 0) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v of %s: not in time", r, user)
		}
	}
}
