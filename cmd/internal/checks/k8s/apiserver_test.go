package k8s

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// definitionFiles lists the sources of resource definitions. Go verifies these modules by its
// checksum database like any other. They are not requirements of this module, because none of their
// code is used.
var definitionFiles = map[string][]string{
	"github.com/kedacore/keda/v2@v2.21.0": {
		"config/crd/bases/keda.sh_scaledobjects.yaml",
		"config/crd/bases/keda.sh_triggerauthentications.yaml",
	},
	"github.com/prometheus-operator/prometheus-operator@v0.85.0": {
		"example/prometheus-operator-crd/monitoring.coreos.com_alertmanagerconfigs.yaml",
		"example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml",
		"example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
	},
}

// apiServer runs the users' commands, in a copy of this project, against the API server of
// KUBECONFIG: one that scripts/apiserver.sh started, without nodes, controllers and operators.
type apiServer struct {
	t      *testing.T
	folder string
}

func newAPIServer(t *testing.T) *apiServer {
	t.Helper()
	if os.Getenv("EERF_TEST_APISERVER") == "" {
		t.Skip("no API server; start one with scripts/apiserver.sh run")
	}
	a := &apiServer{t, t.TempDir()}
	for _, name := range []string{"k8s", "scripts"} {
		if err := os.CopyFS(filepath.Join(a.folder, name), os.DirFS(filepath.Join(rootPath, name))); err != nil {
			t.Fatal(err)
		}
	}
	for module, names := range definitionFiles {
		for _, name := range names {
			a.must("kubectl apply --server-side -f " + filepath.Join(download(t, module), name))
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	a.must("kubectl apply --server-side -f " + filepath.Join(here, "testdata", "strimzi"))
	a.must("kubectl wait crd --all --for=condition=Established --timeout=60s")
	return a
}

// download returns the folder of a module in Go's cache, downloading it if necessary.
func download(t *testing.T, module string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	command.Dir = t.TempDir() // outside any module
	out, err := command.Output()
	var found struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &found); jsonErr != nil || err != nil || found.Dir == "" {
		t.Fatalf("%s: %v %v %s", module, err, jsonErr, found.Error)
	}
	return found.Dir
}

// shell runs a command unchanged and returns all its output.
func (a *apiServer) shell(command string) (string, error) {
	ctx, cancel := context.WithTimeout(a.t.Context(), 2*time.Minute)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", command)
	bash.Dir = a.folder
	out, err := bash.CombinedOutput()
	return string(out), err
}

func (a *apiServer) must(command string) string {
	a.t.Helper()
	out, err := a.shell(command)
	if err != nil {
		a.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	if strings.Contains(out, "Warning") {
		a.t.Errorf("%s warns:\n%s", command, out)
	}
	return out
}

// edit replaces a text of the copy, as with an editor.
func (a *apiServer) edit(name, old, replacement string) {
	a.t.Helper()
	path := filepath.Join(a.folder, name)
	text, err := os.ReadFile(path)
	if err != nil {
		a.t.Fatal(err)
	}
	changed := strings.Replace(string(text), old, replacement, 1)
	if changed == string(text) {
		a.t.Fatalf("%s has no %q", name, old)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// unheard lists the documented commands that need more than an API server, with their needs.
var unheard = []struct{ command, needs string }{
	{"\nkind ", "a cluster"}, {"\ndocker ", "a container runtime"}, {" logs ", "a kubelet"}, {" port-forward ",
		"a kubelet"},
	{"exec ", "a kubelet"}, {"\noperator ", "a kubelet"}, {" rollout status ", "controllers"}, {"\nfeaturizer ",
		"a broker"}, {"\nEERF_", "a broker"},
	{"--watch", "somebody who ends it"}, {"go test", "the checks themselves"}, {"\nmake ",
		"the checks themselves"}, {"kubectl kustomize ", "no server"},
}

// users prints the applied users: Strimzi makes a Secret for each.
const users = "kubectl -n kafka get kafkausers -o name | sed 's/.*[/]default[.]//'"

// made lists commands that create what other components would have created before a command.
var made = []struct{ before, command string }{
	{"kubectl create namespace eerf", "kubectl create namespace kafka --dry-run=client -o yaml | kubectl apply -f -"},
	{
		"scripts/strimzi-secrets.sh",
		`kubectl -n kafka create secret generic kafka-cluster-ca-cert --from-literal=ca.crt=authority
for user in $(` + users + `); do
  kubectl -n kafka create secret generic default.$user --from-literal=password=of-$user
done`,
	},
	{"kubectl -n kafka wait", `for user in $(kubectl -n kafka get kafkauser -o name); do
  kubectl -n kafka patch $user --subresource=status --type=merge \
    -p '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'
done`},
	{"kubectl -n eerf debug", `kubectl -n eerf get deployment eerf-featurizer -o json |
  jq '{apiVersion: "v1", kind: "Pod", metadata: {name: "pod"}, spec: .spec.template.spec}' | kubectl apply -n eerf -f -`},
	{"kubectl -n eerf create secret generic eerf-kafka",
		"kubectl -n eerf delete secret kafka-cluster-ca-cert default.keda; printf x | tee ca.crt password keda-password"},
}

// effects lists conditions that must hold after a command.
var effects = []struct{ after, holds string }{
	{"scripts/strimzi-secrets.sh", `for user in $(` + users + ` | grep -vx operator); do
  [[ $(kubectl -n eerf get secret default.$user -o jsonpath='{.data.password}' | base64 -d) == of-$user ]]
done
[[ $(kubectl -n eerf get secret kafka-cluster-ca-cert -o jsonpath='{.data.ca\.crt}' | base64 -d) == authority ]]
kubectl -n kafka create secret generic kafka-cluster-ca-cert --from-literal=ca.crt=renewed --dry-run=client -o yaml |
  kubectl apply -f - 2>/dev/null
scripts/strimzi-secrets.sh eerf default
[[ $(kubectl -n eerf get secret kafka-cluster-ca-cert -o jsonpath='{.data.ca\.crt}' | base64 -d) == renewed ]]`},
	{"kubectl -n eerf debug",
		`[[ $(kubectl -n eerf get pod pod -o jsonpath='{.spec.ephemeralContainers[*].image}') == busybox:1.37 ]]`},
	{"kubectl -n eerf scale deployment --all",
		`[[ $(kubectl -n eerf get deployments -o jsonpath='{.items[*].spec.replicas}') == "0 0 0 0 0" ]]`},
	{
		"kubectl apply -k k8s/overlays/production --server-side --force",
		`[[ $(kubectl -n eerf get deployments -o jsonpath='{.items[*].spec.replicas}') == "2 2 2 2 1" ]]
[[ -z $(kubectl -n eerf get scaledobjects -o jsonpath='{.items[*].metadata.annotations.autoscaling\.keda\.sh/paused}') ]]`,
	},
}

// changes replaces placeholders of the documentation, and commands that would wait for missing
// objects.
var changes = strings.NewReplacer(" POD ", " pod ", " -it", "", "kubectl delete -k", "kubectl delete --wait=false -k",
	"--docker-password=…", "--docker-password=secret", "\\$(openssl", "$(openssl")

var (
	commandLine = regexp.MustCompile(`^    ((?:[a-z]+|scripts/[a-z.-]+|EERF_[A-Z_]+=\S+) .*)$`)
	inlined     = regexp.MustCompile("`(kubectl (?:-n eerf )?(?:create|annotate) [^`]*)`")
)

// documentedCommands returns the commands of k8s/README.md, in order.
func documentedCommands(t *testing.T) []string {
	t.Helper()
	var all []string
	inFunction := false
	for line := range strings.Lines(readFile(t, "k8s/README.md")) {
		line = strings.TrimRight(line, "\n")
		switch command := commandLine.FindStringSubmatch(line); {
		case inFunction:
			inFunction = line != "    }"
		case strings.HasSuffix(line, "() {"):
			inFunction = true
		case command != nil:
			all = append(all, command[1])
		default:
			for _, found := range inlined.FindAllStringSubmatch(line, -1) {
				all = append(all, found[1])
			}
		}
	}
	return all
}

// TestAPIServerAcceptsDocumentedCommands follows the documentation from the first apply to the last deletion.
func TestAPIServerAcceptsDocumentedCommands(t *testing.T) {
	a := newAPIServer(t)
	a.edit(
		"k8s/overlays/production/kustomization.yaml",
		"name: eerf}",
		"name: eerf, newName: registry.example.com/eerf, newTag: v0.1.0}",
	)
	a.must("kubectl create namespace eerf --dry-run=client -o yaml >/dev/null")
	heard := 0
	for _, command := range documentedCommands(t) {
		if needs := neededBy(command); needs != "" {
			t.Logf("not run, needs %s: %s", needs, command)
			continue
		}
		for _, m := range made {
			if strings.HasPrefix(command, m.before) {
				a.must(m.command)
			}
		}
		out := a.must(changes.Replace(command))
		t.Logf("%s\n%s", command, out)
		heard++
		for _, effect := range effects {
			if strings.HasPrefix(command, effect.after) {
				a.must(effect.holds)
			}
		}
	}
	if heard < 20 {
		t.Errorf("%d commands of the documentation were run", heard)
	}
}

func neededBy(command string) string {
	for _, one := range unheard {
		if strings.Contains("\n"+command, one.command) {
			return one.needs
		}
	}
	return ""
}

// TestAPIServerAcceptsEveryOverlay applies the overlays. The server refuses unknown fields, and warns of pods that are
// not restricted.
func TestAPIServerAcceptsEveryOverlay(t *testing.T) {
	a := newAPIServer(t)
	a.must("kubectl create namespace kafka --dry-run=client -o yaml | kubectl apply -f -")
	a.edit(
		"k8s/overlays/dev/kustomization.yaml",
		"namespace: eerf-dev",
		"namespace: eerf-taken",
	) // the other namespace exists already
	for _, folder := range []string{"overlays/dev", example} {
		out := a.must("kubectl apply -k k8s/" + folder + " --server-side --validate=strict")
		t.Logf("%s: %d objects", folder, strings.Count(out, "serverside-applied"))
		again := a.must("kubectl apply -k k8s/" + folder + " --server-side --validate=strict")
		if strings.Count(again, "serverside-applied") != strings.Count(out, "serverside-applied") {
			t.Errorf("%s changes when it is applied again:\n%s", folder, again)
		}
	}
}
