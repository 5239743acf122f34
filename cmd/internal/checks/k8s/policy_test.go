package k8s

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// TestPodsAreRestricted checks what pod-security.kubernetes.io/enforce: restricted requires.
func TestPodsAreRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	eachOverlay(t, func(t *testing.T, o *overlay) {
		for _, space := range o.ofKind("Namespace") {
			if space.GetLabels()[api.EnforceLevelLabel] != string(api.LevelRestricted) {
				t.Errorf("%v does not enforce it", space)
			}
		}
		for _, w := range o.workloads() {
			result := policy.AggregateCheckResults(evaluator.EvaluatePod(level, &w.pod.ObjectMeta, &w.pod.Spec))
			if !result.Allowed {
				t.Errorf("%v: %s", w, result.ForbiddenDetail())
			}
		}
	})
	root := &corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}
	if policy.AggregateCheckResults(evaluator.EvaluatePod(level, &metav1.ObjectMeta{}, root)).Allowed {
		t.Error("a pod without any restriction passes")
	}
}

// TestPodsHaveLeastPrivilege checks more than "restricted" requires.
func TestPodsHaveLeastPrivilege(t *testing.T) {
	eachOverlay(t, func(t *testing.T, o *overlay) {
		accounts := map[string]*corev1.ServiceAccount{}
		for _, account := range all[*corev1.ServiceAccount](o) {
			accounts[account.Name] = account
		}
		for _, w := range o.workloads() {
			spec := &w.pod.Spec
			check := checker(t, w)
			account := accounts[spec.ServiceAccountName]
			check(account != nil && account.Name == w.name, "has no service account of its own")
			check(account != nil && refused(account.AutomountServiceAccountToken), "its service account hands out tokens")
			check(refused(spec.AutomountServiceAccountToken), "has a token of the API server, which it does not need")
			check(refused(spec.EnableServiceLinks), "has variables of services, which may look like configuration")
			for _, c := range w.containers() {
				check(!w.ours() || c.SecurityContext.ReadOnlyRootFilesystem != nil && *c.SecurityContext.ReadOnlyRootFilesystem,
					c.Name+": may write to its root file system")
				check(pinned.MatchString(c.Image), c.Name+": the image has no tag that stays: "+c.Image)
				for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
					_, there := c.Resources.Requests[name]
					check(there, c.Name+": requests no "+string(name))
				}
				check(c.Resources.Limits.Memory().Cmp(*c.Resources.Requests.Memory()) == 0,
					c.Name+": may take more memory than was kept free for it")
				_, limited := c.Resources.Limits[corev1.ResourceCPU]
				check(!limited, c.Name+": is held up for whole time slices, in which it cannot say that it lives")
			}
		}
	})
}

// pinned matches images with a tag other than latest.
var pinned = regexp.MustCompile(`^[a-z0-9./-]+:(v?[0-9][0-9A-Za-z.-]*|dev)$`)

func checker(t *testing.T, w *workload) func(ok bool, what string) {
	return func(ok bool, what string) {
		t.Helper()
		if !ok {
			t.Errorf("%v: %s", w, what)
		}
	}
}

// refused reports whether a setting is present and false: the default in Kubernetes is true.
func refused(setting *bool) bool { return setting != nil && !*setting }

// TestSelectorsMatchTheirPods compares selectors with the pods that they should select. Selectors
// of workloads cannot be changed later, so their labels are written down here.
func TestSelectorsMatchTheirPods(t *testing.T) {
	eachOverlay(t, func(t *testing.T, o *overlay) {
		for _, w := range o.workloads() {
			if w.selector == nil {
				continue
			}
			want := map[string]string{"app.kubernetes.io/name": w.name}
			if w.ours() {
				want = map[string]string{"app.kubernetes.io/name": "eerf", "app.kubernetes.io/component": strings.TrimPrefix(w.name,
					"eerf-")}
			}
			if !maps.Equal(w.selector.MatchLabels, want) || len(w.selector.MatchExpressions) > 0 {
				t.Errorf("%v: an upgrade could not change the selector to %v", w, w.selector)
			}
			if !matches(t, w.selector, &w.pod) {
				t.Errorf("%v does not select its pods, %v", w, w.pod.Labels)
			}
		}
		for _, service := range all[*corev1.Service](o) {
			selected := o.selected(t, &metav1.LabelSelector{MatchLabels: service.Spec.Selector})
			if len(selected) != 1 || selected[0].name != service.Name {
				t.Errorf("service %s selects %v", service.Name, selected)
				continue
			}
			for _, port := range service.Spec.Ports {
				if port.TargetPort.Type != intstr.String || selected[0].port(port.TargetPort.StrVal) != port.Port {
					t.Errorf("service %s: port %d goes to %s, which is another one", service.Name, port.Port, port.TargetPort.String())
				}
			}
		}
		budgets := map[string]int{}
		for _, budget := range all[*policyv1.PodDisruptionBudget](o) {
			for _, w := range o.selected(t, budget.Spec.Selector) {
				budgets[w.name]++
			}
		}
		for _, w := range o.workloads() {
			if w.ours() && w.service && budgets[w.name] != 1 {
				t.Errorf("%v has %d disruption budgets", w, budgets[w.name])
			}
		}
	})
}

func matches(t *testing.T, selector *metav1.LabelSelector, pod *corev1.PodTemplateSpec) bool {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return s.Matches(labels.Set(pod.Labels))
}

// selected returns the workloads whose pods a selector selects.
func (o *overlay) selected(t *testing.T, selector *metav1.LabelSelector) []*workload {
	t.Helper()
	var found []*workload
	for _, w := range o.workloads() {
		if matches(t, selector, &w.pod) {
			found = append(found, w)
		}
	}
	return found
}

// TestProbesUseListeningPort compares probes with the port that the process listens on.
func TestProbesUseListeningPort(t *testing.T) {
	eachOverlay(t, func(t *testing.T, o *overlay) {
		for _, w := range o.workloads() {
			c := &w.pod.Spec.Containers[0]
			check := checker(t, w)
			if !w.service {
				check(c.LivenessProbe == nil && c.ReadinessProbe == nil && c.StartupProbe == nil, "has a probe, and serves nothing")
				continue
			}
			for want, probe := range map[string]*corev1.Probe{"/livez": c.LivenessProbe, "/readyz": c.ReadinessProbe,
				"/livez ": c.StartupProbe} {
				switch {
				case probe == nil:
					check(false, "has no probe of "+want)
				case w.ours():
					check(probe.HTTPGet != nil && probe.HTTPGet.Path == strings.TrimSpace(want), "does not ask "+want)
					check(probe.HTTPGet != nil && w.port(probe.HTTPGet.Port.StrVal) == o.configuration(t, w.name).listenPort(t),
						"asks at a port that nobody listens on")
				default:
					check(probe.TCPSocket != nil && w.port(probe.TCPSocket.Port.StrVal) != 0, "asks at a port that it does not have")
				}
			}
			// Checking the broker takes up to 3 seconds.
			check(!w.ours() || c.ReadinessProbe.TimeoutSeconds >= 5,
				"the answer of /readyz may take longer than the probe waits")
			check(len(w.pod.Spec.TopologySpreadConstraints) > 0 || !w.ours(), "may run on one node alone")
		}
	})
}

// TestNetworkIsClosed checks that pods can reach, and be reached from, only the peers that a policy
// names, including the brokers.
func TestNetworkIsClosed(t *testing.T) {
	eachOverlay(t, func(t *testing.T, o *overlay) {
		for _, w := range o.workloads() {
			check := checker(t, w)
			covered := map[networkingv1.PolicyType]bool{}
			var out []networkingv1.NetworkPolicyEgressRule
			for _, rules := range all[*networkingv1.NetworkPolicy](o) {
				if !matches(t, &rules.Spec.PodSelector, &w.pod) {
					continue
				}
				for _, one := range rules.Spec.PolicyTypes {
					covered[one] = true
				}
				for _, in := range rules.Spec.Ingress {
					check(len(in.From) > 0 && len(in.Ports) > 0, "is reached from everywhere, or at every port")
				}
				out = append(out, rules.Spec.Egress...)
			}
			check(covered[networkingv1.PolicyTypeIngress] && covered[networkingv1.PolicyTypeEgress],
				"is covered by no network policy")
			check(!slices.ContainsFunc(out,
				func(rule networkingv1.NetworkPolicyEgressRule) bool { return len(rule.Ports) == 0 }),
				"reaches every port")
			if !w.ours() {
				continue
			}
			for _, broker := range o.configuration(t, w.name).Kafka.Brokers {
				_, port, _ := strings.Cut(broker, ":")
				check(reaches(out, port), "does not reach the broker "+broker)
			}
			check(reaches(out, "53"), "does not reach name servers")
		}
	})
}

// reaches reports whether a rule allows egress to a port.
func reaches(rules []networkingv1.NetworkPolicyEgressRule, port string) bool {
	for _, rule := range rules {
		for _, p := range rule.Ports {
			if p.Port.String() == port {
				return true
			}
			if wanted, err := strconv.Atoi(port); err == nil && p.EndPort != nil &&
				int32(wanted) > p.Port.IntVal && int32(wanted) <= *p.EndPort {
				return true
			}
		}
	}
	return false
}
