package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"go.yaml.in/yaml/v3"

	"github.com/eerf-stream/eerf/arrowio/wire"
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
		return user.as("train.promote.rule", "better_across_sets") // reads events
	}
	selector := as("selector").as("admin.listen", "127.0.0.1:0").stages("calibrate,select")
	featurizer := as("featurizer").stages("featurize")
	running := []*clitest.Process{selector, featurizer, as("scoring").stages("subsample"), as("trainer").start("trainer", "run", "--json")}
	model := as("retrain").untilTrained(3000).Text(t, "model.id")
	server := as("server").as(answerSettings...).start("featurizer", "serve")
	server.AwaitLog(t, "pair in use")
	running = append(running, server)
	s.operate(cluster, rights["operator"])

	address := selector.LogLine(t, "serving health, metrics and configuration").Text(t, "address")
	clitest.Eventually(t, "models, dead letters and the featurizer on the selector's page", func() bool {
		page, err := snapshotOf(t, "http://"+address+"/api/status")
		if err != nil {
			return false
		}
		if page.History.ModelsError != "" || page.Letters.Error != "" {
			t.Fatalf("models: %s; dead letters: %s", page.History.ModelsError, page.Letters.Error)
		}
		featurized := len(page.Flow.Partitions) > 0
		for _, p := range page.Flow.Partitions {
			featurized = featurized && p.Featurize != nil
		}
		return featurized && page.Letters.Read > 0 && len(page.History.Models) > 0
	})

	// Another set: its first model is compared with one on the previous set, using events.
	before := s.featureSet()
	s.produce(1000)
	s.run("featurizer", "explorations", "start").Want(t, cli.ExitOK)
	clitest.Eventually(t, "another feature set", func() bool { return s.featureSet() != before })
	clitest.Eventually(t, "rows are featurized with it", func() bool {
		s.produce(100) // the set changes between messages
		return strings.Contains(featurizer.Log(), s.featureSet())
	})
	s.produce(2000)
	clitest.Eventually(t, "a model that was compared with one of the set before, as "+model, s.comparedAcrossSets)
	for _, p := range running {
		s.stop(p)
	}
}

// comparedAcrossSets reports whether a model was compared with one of another feature set.
func (s *site) comparedAcrossSets() bool {
	s.t.Helper()
	var listed struct {
		Models []struct {
			Judgement *wire.Judgement `json:"judgement"`
		} `json:"models"`
	}
	r := s.run("trainer", "models", "list", "--json")
	if r.Code != cli.ExitOK {
		return false
	}
	if err := json.Unmarshal([]byte(r.Out), &listed); err != nil {
		s.t.Fatal(err)
	}
	for _, m := range listed.Models {
		if m.Judgement != nil && m.Judgement.IncumbentSet != "" && m.Judgement.Compared() {
			return true
		}
	}
	return false
}

// page has the parts of the status page that are tested.
type page struct {
	Flow struct {
		Partitions []struct {
			Featurize *struct{} `json:"featurize"`
		} `json:"partitions"`
	} `json:"flow"`
	History struct {
		Models      []any  `json:"models"`
		ModelsError string `json:"models_error"`
	} `json:"history"`
	Letters struct {
		Read  int64  `json:"read"`
		Error string `json:"error"`
	} `json:"letters"`
}

func snapshotOf(t *testing.T, url string) (page, error) {
	var p page
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		return p, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return p, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return p, fmt.Errorf("status %s", response.Status)
	}
	return p, json.NewDecoder(response.Body).Decode(&p)
}
