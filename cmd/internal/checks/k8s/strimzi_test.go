package k8s

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const strimziGroup = "kafka.strimzi.io"

// kafkaUser has the fields of Strimzi's KafkaUser that are compared.
type kafkaUser struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Authorization struct {
			ACLs []struct {
				Type     string `json:"type"`
				Host     string `json:"host"`
				Resource struct {
					Type        string `json:"type"`
					Name        string `json:"name"`
					PatternType string `json:"patternType"`
				} `json:"resource"`
				Operations []string `json:"operations"`
			} `json:"acls"`
		} `json:"authorization"`
	} `json:"spec"`
}

// operations maps the columns of the table of rights to Strimzi's operations.
var operations = map[string]string{
	"read":             "Read",
	"write":            "Write",
	"describe":         "Describe",
	"describe configs": "DescribeConfigs",
	"create":           "Create",
	"alter":            "Alter",
}

// kafkaUsers reads the users.
func (o *overlay) kafkaUsers(t *testing.T) (users []*kafkaUser) {
	t.Helper()
	for _, m := range o.ofKind("KafkaUser") {
		user := new(kafkaUser)
		if err := yaml.Unmarshal(m.Text, user); err != nil {
			t.Fatal(err)
		}
		users = append(users, user)
	}
	return users
}

// rights returns a user's rights, as "topic name operation".
func (u *kafkaUser) rights() []string {
	var all []string
	for _, acl := range u.Spec.Authorization.ACLs {
		for _, operation := range acl.Operations {
			all = append(all, acl.Resource.Type+" "+acl.Resource.Name+" "+operation)
			pattern := "literal"
			if acl.Resource.Type == "transactionalId" {
				pattern = "prefix"
			}
			if acl.Resource.PatternType != pattern || acl.Type == "deny" || acl.Host != "" && acl.Host != "*" {
				all = append(all, fmt.Sprintf("what is no plain right: %+v", acl))
			}
		}
	}
	slices.Sort(all)
	return all
}

var quoted = regexp.MustCompile("`([a-z-]+)`")

// documented joins the rows of the table of rights that a workload needs.
func documented(t *testing.T, pipeline string, rows ...string) []string {
	t.Helper()
	_, table, _ := strings.Cut(readFile(t, "docs/operations.md"), "\n| who | read |")
	table, _, _ = strings.Cut("| who | read |"+table, "\n\n")
	lines := strings.Split(table, "\n")
	columns := cells(lines[0])
	var all []string
	for _, line := range lines[2:] {
		row := cells(line)
		if !slices.Contains(rows, strings.Trim(row[0], "`")) {
			continue
		}
		for i, column := range columns[1:] {
			for _, name := range quoted.FindAllStringSubmatch(row[i+1], -1) {
				right := "topic " + pipeline + "." + name[1] + " " + operations[column]
				switch group := "eerf-" + pipeline + "-" + name[1]; column {
				case "groups":
					right = "group " + group + " Read"
				case "transactional ids":
					right = "transactionalId " + group + "/ Write"
				}
				all = append(all, right)
			}
		}
	}
	return unite(all, nil)
}

// unite joins rights, leaving out rights to describe that rights to read or write include.
func unite(some, more []string) []string {
	all := slices.Concat(some, more)
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(right string) bool {
		topic, isDescribe := strings.CutSuffix(right, " Describe")
		return isDescribe && (slices.Contains(all, topic+" Read") || slices.Contains(all, topic+" Write"))
	})
}

func cells(line string) []string {
	parts := strings.Split(strings.Trim(line, "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// TestUserRightsMatchDocumentation compares users with the table of rights, which other tests verify on Apache Kafka.
func TestUserRightsMatchDocumentation(t *testing.T) {
	rows := map[string][]string{
		"selector": {"calibrate", "selection"}, "scoring": {"subsample"}, "featurizer": {"featurize"}, "trainer": {"train"},
		"server":  {"featurizer serve"},
		"retrain": {"trainer fit"}, "operator": {"dead-letters list`, `export", "dead-letters replay"},
	}
	o := render(t, copyFiles(t), example)
	pipeline := o.configuration(t, "eerf-selector").Pipeline.Name
	topic, group := "topic "+pipeline+".", "group eerf-"+pipeline+"-"
	// Rights beyond those of the stages, for the status page.
	more := map[string][]string{"selector": {topic + "models Read", topic + "dead-letters Read",
		group + "featurize Describe"}}
	want := map[string][]string{pipeline + ".keda": {group + "featurize Describe", topic + "events Describe"}}
	for user, names := range rows {
		rights := documented(t, pipeline, names...)
		if len(rights) == 0 {
			t.Fatalf("docs/operations.md lists no rights for %v", names)
		}
		want[pipeline+"."+user] = unite(rights, more[user])
	}
	for _, user := range o.kafkaUsers(t) {
		if have := user.rights(); !slices.Equal(have, want[user.Name]) {
			t.Errorf("%s has the rights\n%s\nand needs\n%s", user.Name, strings.Join(have, "\n"),
				strings.Join(want[user.Name], "\n"))
		}
		delete(want, user.Name)
	}
	for user := range want {
		t.Errorf("user %s is missing", user)
	}
}
