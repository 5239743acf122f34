package integration

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"go.yaml.in/yaml/v3"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/pipeline/kafkatest"
)

// kafkaUser has the fields of a KafkaUser that are tested.
type kafkaUser struct {
	Metadata struct {
		Name string `yaml:"name"`
	} `yaml:"metadata"`
	Spec struct {
		Authorization struct {
			ACLs []struct {
				Resource struct {
					Type string `yaml:"type"`
					Name string `yaml:"name"`
				} `yaml:"resource"`
				Operations []string `yaml:"operations"`
			} `yaml:"acls"`
		} `yaml:"authorization"`
	} `yaml:"spec"`
}

var manifestOperations = map[string]kmsg.ACLOperation{
	"Read": kmsg.ACLOperationRead, "Write": kmsg.ACLOperationWrite, "Describe": kmsg.ACLOperationDescribe,
	"DescribeConfigs": kmsg.ACLOperationDescribeConfigs,
}

// manifestRights returns the rights of the users in the manifests, for the topics and groups of s, by the last part of a
// user's name.
func (s *site) manifestRights() map[string][]kafkatest.Right {
	s.t.Helper()
	text, err := os.ReadFile("../../../k8s/components/strimzi/users.yaml")
	if err != nil {
		s.t.Fatal(err)
	}
	users := map[string][]kafkatest.Right{}
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var user kafkaUser
		if err := decoder.Decode(&user); errors.Is(err, io.EOF) {
			return users
		} else if err != nil {
			s.t.Fatal(err)
		}
		name := strings.TrimPrefix(user.Metadata.Name, "default.")
		for _, acl := range user.Spec.Authorization.ACLs {
			for _, word := range acl.Operations {
				operation, known := manifestOperations[word]
				right := kafkatest.Topic(operation, s.topic(strings.TrimPrefix(acl.Resource.Name, "default.")))
				switch group := "eerf-" + s.name + "-" + strings.TrimPrefix(acl.Resource.Name, "eerf-default-"); acl.Resource.Type {
				case "group":
					right = kafkatest.Group(operation, group)
				case "transactionalId":
					right = kafkatest.TransactionalIDs(group)
				}
				if !known {
					s.t.Fatalf("%s: operation %q", name, word)
				}
				users[name] = append(users[name], right)
			}
		}
	}
}

// TestTheUsersOfTheManifestsMayDoTheirWork runs the workloads of k8s/base, each as its user.
func TestTheUsersOfTheManifestsMayDoTheirWork(t *testing.T) {
	s, cluster := securedSite(t)
	s.run("featurizer", "topics", "create").Want(t, cli.ExitOK)
	s.garble(cluster)
	s.produce(3000)
	rights := s.manifestRights()
	as := func(name string) *site {
		if rights[name] == nil {
			t.Fatalf("the manifests have no user %s", name)
		}
		_, user := s.user(cluster, name, rights[name])
		return user
	}
	running := []*clitest.Process{as("selector").stages("calibrate,select"), as("featurizer").stages("featurize"),
		as("scoring").stages("subsample"), as("trainer").start("trainer", "run", "--json")}
	as("retrain").untilTrained(3000)
	server := as("server").as(answerSettings...).start("featurizer", "serve")
	server.AwaitLog(t, "pair in use")
	running = append(running, server)
	s.operate(cluster, rights["operator"])

	for _, p := range running {
		s.stop(p)
	}
}
