package verify_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// bindingCase is a plan that binds pods with topology terms to nodes; places are the nodes with their pods, as "node: pod
// pod".
type bindingCase struct {
	name    string
	pods    []*corev1.Pod
	running []*corev1.Pod
	nodes   []*corev1.Node
	places  []string
	breaks  []verify.Code
	details []string // what the first violation says
}

func (tc bindingCase) run(t *testing.T) {
	t.Run(tc.name, func(t *testing.T) {
		d := &draft{p: scheduling.Problem{Pods: tc.pods, Running: tc.running, Nodes: tc.nodes}, nodes: map[string]string{}}
		for _, place := range tc.places {
			node, pods, _ := strings.Cut(place, ":")
			d.nodes[node] = pods
		}
		f := d.plan()
		f.skip = true
		got := f.violations(t)
		assert.Equal(t, tc.breaks, codes(got), "%v", got)
		for _, detail := range tc.details {
			assert.Contains(t, got[0].Error(), detail)
		}
	})
}

func zones(names string) []*corev1.Node {
	var nodes []*corev1.Node
	for _, zone := range strings.Fields(names) {
		nodes = append(nodes, zoned("n-"+zone, zone))
	}
	return nodes
}

var tooMany = broken(verify.CodeTopologySpread)

func TestTopologySpread(t *testing.T) {
	web := func(n int, more ...func(*corev1.TopologySpreadConstraint)) []*corev1.Pod {
		return apps(n, "web", spread(zoneOf, 1, of("web"), more...))
	}
	tainted := st.Taint("k", "", corev1.TaintEffectNoSchedule)
	for _, tc := range []bindingCase{
		{name: "evenly (P107)", pods: web(3), nodes: zones("a b c"), places: []string{"n-a: web-1", "n-b: web-2", "n-c: web-3"}},
		{name: "unevenly by the skew", pods: web(4), nodes: zones("a b c"), places: []string{"n-a: web-1 web-4", "n-b: web-2", "n-c: web-3"}},
		{name: "unevenly by more", pods: web(3), nodes: zones("a b c"), places: []string{"n-a: web-1 web-3", "n-b: web-2"}, breaks: tooMany,
			details: []string{"pod/default/web-3", "node/n-a", "topology.kubernetes.io/zone", "a would have 2", "the minimum over domains is 0", "maxSkew is 1"}},
		{name: "in an order that needs retries (P18)", pods: web(6), nodes: zones("a b c"), places: []string{"n-a: web-1 web-2", "n-b: web-3 web-4", "n-c: web-5 web-6"}},
		{name: "a zone that no node is in does not count (P95)", pods: web(2), nodes: zones("a b"), places: []string{"n-a: web-1", "n-b: web-2"}},
		{name: "running pods count (P99)", pods: web(1), running: []*corev1.Pod{app("r", "web", "n-a")}, nodes: zones("a b"),
			places: []string{"n-a: web-1"}, breaks: tooMany},
		{name: "running pods of others do not", pods: web(1), running: []*corev1.Pod{app("r", "db", "n-a")}, nodes: zones("a b"), places: []string{"n-a: web-1"}},
		{name: "nor of other namespaces (P99)", pods: web(1), running: []*corev1.Pod{app("r", "web", "n-a", inSpace("other"))}, nodes: zones("a b"), places: []string{"n-a: web-1"}},
		{name: "nor pods that are being deleted (P99)", pods: web(1), running: []*corev1.Pod{app("r", "web", "n-a", terminating)}, nodes: zones("a b"), places: []string{"n-a: web-1"}},
		{name: "nor pods that have ended (P99)", pods: web(1), running: []*corev1.Pod{with(app("r", "web", "n-a"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })},
			nodes: zones("a b"), places: []string{"n-a: web-1"}},
		{name: "nor pods on nodes that are not there", pods: web(1), running: []*corev1.Pod{app("r", "web", "n-x")}, nodes: zones("a b"), places: []string{"n-a: web-1"}},
		{name: "nodes without the label do not count (P99)", pods: web(1), running: []*corev1.Pod{app("r", "web", "n-x")},
			nodes: append(zones("a b"), zoned("n-x", "")), places: []string{"n-a: web-1"}},
		{name: "and take no such pods (P104)", pods: web(1), nodes: append(zones("a"), zoned("n-x", "")), places: []string{"n-x: web-1"}, breaks: tooMany,
			details: []string{"lacks the label"}},
		{name: "a node that is being removed is a domain (P106)", pods: web(2), nodes: append(zones("a"), zoned("n-b", "b", st.Deleting())),
			places: []string{"n-a: web-1 web-2"}, breaks: tooMany},
		{name: "the skew is violated already: the fullest (P112)", pods: web(1), running: []*corev1.Pod{app("r", "web", "n-a"), app("s", "web", "n-a")}, nodes: zones("a b"),
			places: []string{"n-a: web-1"}, breaks: tooMany},
		{name: "the skew is violated already: the emptiest (P112)", pods: web(1), running: []*corev1.Pod{app("r", "web", "n-a"), app("s", "web", "n-a")}, nodes: zones("a b"),
			places: []string{"n-b: web-1"}},
		{name: "too few domains (P110)", pods: web(2, minDomains(2)), nodes: zones("a"), places: []string{"n-a: web-1 web-2"}, breaks: tooMany},
		{name: "one pod per domain while there are too few (P110)", pods: web(2, minDomains(3)), nodes: zones("a b"), places: []string{"n-a: web-1", "n-b: web-2"}},
		{name: "enough domains (P110)", pods: web(4, minDomains(2)), nodes: zones("a b"), places: []string{"n-a: web-1 web-2", "n-b: web-3 web-4"}},
		{name: "domains that the pod's selector excludes do not count (P98, P108)", pods: apps(2, "web", spread(zoneOf, 1, of("web")), inZone("a")), nodes: zones("a b"),
			places: []string{"n-a: web-1 web-2"}},
		{name: "unless its policy ignores the selector (P98)", nodes: zones("a b"), places: []string{"n-a: web-1 web-2"}, breaks: tooMany,
			pods: apps(2, "web", spread(zoneOf, 1, of("web"), policies(corev1.NodeInclusionPolicyIgnore, corev1.NodeInclusionPolicyIgnore)), inZone("a"))},
		{name: "preferred node affinity excludes nothing (P108)", nodes: zones("a b"), places: []string{"n-a: web-1 web-2"}, breaks: tooMany,
			pods: apps(2, "web", spread(zoneOf, 1, of("web")), func(p *corev1.Pod) { p.Spec.Affinity = st.Pod("x", st.Prefer(1, st.In(zoneOf, "a"))).Spec.Affinity })},
		{name: "tainted nodes count (P97)", pods: web(2), nodes: append(zones("a"), zoned("n-b", "b", tainted)), places: []string{"n-a: web-1 web-2"}, breaks: tooMany},
		{name: "unless its policy honours taints (P97)", pods: web(2, policies(corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyHonor)),
			nodes: append(zones("a"), zoned("n-b", "b", tainted)), places: []string{"n-a: web-1 web-2"}},
		{name: "and it tolerates them (P97)", nodes: append(zones("a"), zoned("n-b", "b", tainted)), places: []string{"n-a: web-1 web-2"}, breaks: tooMany,
			pods: apps(2, "web", spread(zoneOf, 1, of("web"), policies(corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyHonor)),
				func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} })},
		{name: "per host (P109)", pods: apps(2, "web", spread(hostOf, 1, of("web"))), nodes: zones("a b"), places: []string{"n-a: web-1 web-2"}, breaks: tooMany},
		{name: "per host, by the number of hosts", pods: apps(4, "web", spread(hostOf, 1, of("web"))), nodes: zones("a b"), places: []string{"n-a: web-1 web-2", "n-b: web-3 web-4"}},
		{name: "a node that does not say what it is called (P100 is otherwise)", pods: apps(1, "web", spread(hostOf, 1, of("web"))), places: []string{"n-x: web-1"}, breaks: tooMany,
			nodes: []*corev1.Node{func() *corev1.Node {
				n := zoned("n-x", "a")
				delete(n.Labels, hostOf)
				return n
			}()}},
		{name: "over a label of the nodes (P113)", pods: apps(2, "web", spread("rack", 1, of("web"))),
			nodes: []*corev1.Node{zoned("n", "a", st.Label("rack", "1")), zoned("m", "a", st.Label("rack", "2"))}, places: []string{"n: web-1", "m: web-2"}},
		{name: "nodes that lack another key of the pod do not count (P113)", pods: apps(2, "web", spread(zoneOf, 1, of("web")), spread("rack", 2, of("web"))),
			nodes: []*corev1.Node{zoned("n", "a", st.Label("rack", "1")), zoned("m", "b")}, places: []string{"n: web-1 web-2"}},
		{name: "all constraints have to hold (P113)", pods: apps(2, "web", spread(zoneOf, 2, of("web")), spread(hostOf, 1, of("web"))), nodes: zones("a b"),
			places: []string{"n-a: web-1 web-2"}, breaks: tooMany, details: []string{"kubernetes.io/hostname"}},
		{name: "what is wished for does not (P114)", pods: web(2, anyway), nodes: zones("a b"), places: []string{"n-a: web-1 web-2"}},
		{name: "a selector of others: the pod itself does not count (P107)", pods: apps(3, "web", spread(zoneOf, 1, of("db"))), nodes: zones("a b"), places: []string{"n-a: web-1 web-2 web-3"}},
		{name: "a selector of others that are there", pods: apps(1, "web", spread(zoneOf, 1, of("db"))), nodes: zones("a b"), places: []string{"n-a: web-1"},
			running: []*corev1.Pod{app("r", "db", "n-a"), app("s", "db", "n-a")}, breaks: tooMany},
		{name: "no selector selects nobody (P102)", pods: apps(3, "web", spread(zoneOf, 1, nil)), nodes: zones("a b"), places: []string{"n-a: web-1 web-2 web-3"}},
		{name: "nor does an empty one", pods: apps(3, "web", spread(zoneOf, 1, &metav1.LabelSelector{})), nodes: zones("a b"), places: []string{"n-a: web-1 web-2 web-3"},
			running: []*corev1.Pod{app("r", "web", "n-a"), app("s", "db", "n-a")}},
		{name: "nor one of labels that the pod lacks (P105)", pods: apps(2, "web", spread(zoneOf, 1, &metav1.LabelSelector{}, sameOf("absent"))), nodes: zones("a b"), places: []string{"n-a: web-1 web-2"}},
		{name: "one of the pod's own labels does (P105)", pods: apps(2, "web", spread(zoneOf, 1, &metav1.LabelSelector{}, sameOf("app"))), nodes: zones("a b"),
			places: []string{"n-a: web-1 web-2"}, breaks: tooMany},
		{name: "the label has to be there whoever is selected", pods: apps(1, "web", spread(zoneOf, 1, &metav1.LabelSelector{})), nodes: append(zones("a"), zoned("n-x", "")),
			places: []string{"n-x: web-1"}, breaks: tooMany, details: []string{"lacks the label"}},
		{name: "revisions are spread apart (P105)", nodes: zones("a b"), places: []string{"n-a: web-1", "n-b: web-2"},
			pods:    apps(2, "web", spread(zoneOf, 1, of("web"), sameOf("rev", "absent")), labelled("rev", "2")),
			running: []*corev1.Pod{app("r", "web", "n-a", labelled("rev", "1")), app("s", "web", "n-a", labelled("rev", "1"))}},
		{name: "and unevenly if one is (P105)", nodes: zones("a b"), places: []string{"n-a: web-1"}, breaks: tooMany,
			pods:    apps(1, "web", spread(zoneOf, 1, of("web"), sameOf("rev")), labelled("rev", "2")),
			running: []*corev1.Pod{app("r", "web", "n-a", labelled("rev", "2"))}},
		{name: "two apps that count each other (P116)", nodes: zones("a b"), places: []string{"n-a: a-1 b-1", "n-b: a-2 b-2"},
			pods: slices.Concat(apps(2, "a", spread(zoneOf, 1, of("b"))), apps(2, "b", spread(zoneOf, 1, of("a"))))},
		{name: "pods come in order of their names", nodes: zones("a b"), places: []string{"n-a: a-1 b-1"}, breaks: tooMany,
			pods: slices.Concat(apps(1, "a", labelled("app", "b")), apps(1, "b", spread(zoneOf, 1, of("b"))))},
		{name: "pods of higher priority come first", nodes: zones("a b"), places: []string{"n-a: a-1 b-1"},
			pods: slices.Concat(apps(1, "a", labelled("app", "b")), apps(1, "b", spread(zoneOf, 1, of("b")), priority(1)))},
	} {
		tc.run(t)
	}
}

func TestPodAffinity(t *testing.T) {
	alone := broken(verify.CodePodAffinity)
	namespaces := func(names ...string) func(*corev1.PodAffinityTerm) {
		return func(t *corev1.PodAffinityTerm) { t.Namespaces = names }
	}
	byLabel := func(s *metav1.LabelSelector) func(*corev1.PodAffinityTerm) {
		return func(t *corev1.PodAffinityTerm) { t.NamespaceSelector = s }
	}
	match := func(keys ...string) func(*corev1.PodAffinityTerm) {
		return func(t *corev1.PodAffinityTerm) { t.MatchLabelKeys = keys }
	}
	mismatch := func(keys ...string) func(*corev1.PodAffinityTerm) {
		return func(t *corev1.PodAffinityTerm) { t.MismatchLabelKeys = keys }
	}
	named := func(name string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: name}}
	}
	sides := func(t *corev1.PodAffinityTerm) {
		t.LabelSelector, t.MatchLabelKeys = &metav1.LabelSelector{}, []string{"side"}
	}
	elsewhere := []*corev1.Pod{app("r", "db", "n-a", inSpace("other"))}
	for _, tc := range []bindingCase{
		{name: "beside a running pod (P118)", pods: apps(1, "web", near(hostOf, of("db"))), running: []*corev1.Pod{app("r", "db", "n-a")}, nodes: zones("a b"), places: []string{"n-a: web-1"}},
		{name: "away from it", pods: apps(1, "web", near(hostOf, of("db"))), running: []*corev1.Pod{app("r", "db", "n-a")}, nodes: zones("a b"), places: []string{"n-b: web-1"}, breaks: alone,
			details: []string{"pod/default/web-1", "node/n-b", "kubernetes.io/hostname", `app in (db)`, "n-b has 0"}},
		{name: "in its zone (P118)", pods: apps(1, "web", near(zoneOf, of("db"))), running: []*corev1.Pod{app("r", "db", "n-a")},
			nodes: append(zones("a b"), zoned("m", "a")), places: []string{"m: web-1"}},
		{name: "a pod that is being deleted is company", pods: apps(1, "web", near(zoneOf, of("db"))), running: []*corev1.Pod{app("r", "db", "n-a", terminating)}, nodes: zones("a"), places: []string{"n-a: web-1"}},
		{name: "a pod on a node that is being removed is company in the zone", pods: apps(1, "web", near(zoneOf, of("db"))), running: []*corev1.Pod{app("r", "db", "m")},
			nodes: append(zones("a"), zoned("m", "a", st.Deleting())), places: []string{"n-a: web-1"}},
		{name: "beside a pod of the plan that comes later by name (P122)", pods: slices.Concat(apps(1, "a", near(zoneOf, of("b"))), apps(1, "b")), nodes: zones("a b"), places: []string{"n-a: a-1 b-1"}},
		{name: "away from it (P121)", pods: slices.Concat(apps(1, "a", near(zoneOf, of("b"))), apps(1, "b")), nodes: zones("a b"), places: []string{"n-a: a-1", "n-b: b-1"}, breaks: alone},
		{name: "a chain (P18)", nodes: zones("a"), places: []string{"n-a: a-1 b-1 c-1"},
			pods: slices.Concat(apps(1, "a", near(zoneOf, of("b"))), apps(1, "b", near(zoneOf, of("c"))), apps(1, "c"))},
		{name: "a circle (P19)", nodes: zones("a"), places: []string{"n-a: a-1 b-1"}, breaks: alone,
			pods: slices.Concat(apps(1, "a", near(zoneOf, of("b"))), apps(1, "b", near(zoneOf, of("a"))))},
		{name: "to nobody (P121)", pods: apps(1, "web", near(zoneOf, of("none"))), nodes: zones("a"), places: []string{"n-a: web-1"}, breaks: alone},
		{name: "to its own kind (P119)", pods: apps(3, "web", near(zoneOf, of("web"))), nodes: zones("a b"), places: []string{"n-b: web-1 web-2 web-3"}},
		{name: "to its own kind in two zones (P119, P120)", pods: apps(2, "web", near(zoneOf, of("web"))), nodes: zones("a b"), places: []string{"n-a: web-1", "n-b: web-2"}, breaks: alone},
		{name: "to its own kind that runs elsewhere", pods: apps(1, "web", near(zoneOf, of("web"))), running: []*corev1.Pod{app("r", "web", "n-a")}, nodes: zones("a b"), places: []string{"n-b: web-1"}, breaks: alone},
		{name: "to its own kind that runs where there is no label", pods: apps(1, "web", near(zoneOf, of("web"))), running: []*corev1.Pod{app("r", "web", "n-x")},
			nodes: append(zones("a"), zoned("n-x", "")), places: []string{"n-a: web-1"}},
		{name: "a node without the label", pods: apps(1, "web", near(zoneOf, of("web"))), nodes: append(zones("a"), zoned("n-x", "")), places: []string{"n-x: web-1"}, breaks: alone},
		{name: "two kinds with selectors of their own open two zones (P123)", nodes: zones("a b"), places: []string{"n-a: a-1", "n-b: b-1"},
			pods: slices.Concat(apps(1, "a", labelled("side", "l"), near(zoneOf, nil, sides)), apps(1, "b", labelled("side", "r"), near(zoneOf, nil, sides)))},
		{name: "company has to meet all terms", pods: apps(1, "web", near(zoneOf, of("db")), near(zoneOf, &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "1"}})),
			running: []*corev1.Pod{app("r", "db", "n-a"), app("s", "other", "n-a", labelled("tier", "1"))}, nodes: zones("a"), places: []string{"n-a: web-1"}, breaks: alone},
		{name: "company that meets all terms", pods: apps(1, "web", near(zoneOf, of("db")), near(hostOf, &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "1"}})),
			running: []*corev1.Pod{app("r", "db", "n-a", labelled("tier", "1"))}, nodes: zones("a"), places: []string{"n-a: web-1"}},
		{name: "a wish (P131)", pods: apps(1, "web", near(zoneOf, of("none")), preferring), nodes: zones("a"), places: []string{"n-a: web-1"}},
		{name: "nobody is meant without a selector", pods: apps(1, "web", near(zoneOf, nil)), running: []*corev1.Pod{app("r", "db", "n-a")}, nodes: zones("a"), places: []string{"n-a: web-1"}, breaks: alone},
		{name: "its own namespace (P129)", pods: apps(1, "web", near(zoneOf, of("db"))), running: elsewhere, nodes: zones("a"), places: []string{"n-a: web-1"}, breaks: alone},
		{name: "a namespace by name (P129)", pods: apps(1, "web", near(zoneOf, of("db"), namespaces("other"))), running: elsewhere, nodes: zones("a"), places: []string{"n-a: web-1"}},
		{name: "another namespace by name (P129)", pods: apps(1, "web", near(zoneOf, of("db"), namespaces("third"))), running: elsewhere, nodes: zones("a"), places: []string{"n-a: web-1"}, breaks: alone},
		{name: "all namespaces (P129)", pods: apps(1, "web", near(zoneOf, of("db"), byLabel(&metav1.LabelSelector{}))), running: elsewhere, nodes: zones("a"), places: []string{"n-a: web-1"}},
		{name: "a namespace that is not listed has its name for a label (P129)", pods: apps(1, "web", near(zoneOf, of("db"), byLabel(named("other")))), running: elsewhere, nodes: zones("a"), places: []string{"n-a: web-1"}},
		{name: "and not another's", pods: apps(1, "web", near(zoneOf, of("db"), byLabel(named("default")))), running: elsewhere, nodes: zones("a"), places: []string{"n-a: web-1"}, breaks: alone},
		{name: "by name or by label (P129)", pods: apps(1, "web", near(zoneOf, of("db"), namespaces("other"), byLabel(named("default")))), running: elsewhere, nodes: zones("a"), places: []string{"n-a: web-1"}},
		{name: "the same value of a label", pods: apps(1, "web", labelled("tenant", "x"), near(zoneOf, of("db"), match("tenant"))),
			running: []*corev1.Pod{app("r", "db", "n-a", labelled("tenant", "y"))}, nodes: zones("a"), places: []string{"n-a: web-1"}, breaks: alone},
		{name: "another value of a label", pods: apps(1, "web", labelled("tenant", "x"), near(zoneOf, of("db"), mismatch("tenant"))),
			running: []*corev1.Pod{app("r", "db", "n-a", labelled("tenant", "y"))}, nodes: zones("a"), places: []string{"n-a: web-1"}},
		{name: "not another value", pods: apps(1, "web", labelled("tenant", "x"), near(zoneOf, of("db"), mismatch("tenant"))),
			running: []*corev1.Pod{app("r", "db", "n-a", labelled("tenant", "x"))}, nodes: zones("a"), places: []string{"n-a: web-1"}, breaks: alone},
		{name: "the pod's node selector is no filter (P130)", pods: apps(1, "web", inZone("b"), near("rack", of("db"))), running: []*corev1.Pod{app("r", "db", "n")},
			nodes: []*corev1.Node{zoned("n", "a", st.Label("rack", "1")), zoned("m", "b", st.Label("rack", "1"))}, places: []string{"m: web-1"}},
	} {
		tc.run(t)
	}
}

func TestPodAntiAffinity(t *testing.T) {
	together := broken(verify.CodePodAntiAffinity)
	for _, tc := range []bindingCase{
		{name: "beside a running pod (P124)", pods: apps(1, "web", apart(hostOf, of("db"))), running: []*corev1.Pod{app("r", "db", "n-a")}, nodes: zones("a b"), places: []string{"n-a: web-1"}, breaks: together,
			details: []string{"pod/default/web-1", "node/n-a", "pod-anti-affinity over kubernetes.io/hostname", `app in (db)`, "n-a has 1"}},
		{name: "away from it (P124)", pods: apps(1, "web", apart(hostOf, of("db"))), running: []*corev1.Pod{app("r", "db", "n-a")}, nodes: zones("a b"), places: []string{"n-b: web-1"}},
		{name: "in its zone (P124)", pods: apps(1, "web", apart(zoneOf, of("db"))), running: []*corev1.Pod{app("r", "db", "n-a")}, nodes: append(zones("a"), zoned("m", "a")), places: []string{"m: web-1"}, breaks: together},
		{name: "where there is no label nobody is in the way", pods: apps(1, "web", apart(zoneOf, of("db"))), running: []*corev1.Pod{app("r", "db", "n-x")}, nodes: []*corev1.Node{zoned("n-x", "")}, places: []string{"n-x: web-1"}},
		{name: "its own kind, one per host (P126)", pods: apps(2, "web", apart(hostOf, of("web"))), nodes: zones("a b"), places: []string{"n-a: web-1", "n-b: web-2"}},
		{name: "its own kind on one host", pods: apps(2, "web", apart(hostOf, of("web"))), nodes: zones("a b"), places: []string{"n-a: web-1 web-2"}, breaks: together},
		{name: "a running pod that wants none (P127)", pods: apps(1, "web"), running: []*corev1.Pod{app("r", "db", "n-a", apart(hostOf, of("web")))}, nodes: zones("a b"), places: []string{"n-a: web-1"}, breaks: together,
			details: []string{"pod-anti-affinity of other pods"}},
		{name: "a running pod that wants none of others (P127)", pods: apps(1, "web"), running: []*corev1.Pod{app("r", "db", "n-a", apart(hostOf, of("x")))}, nodes: zones("a b"), places: []string{"n-a: web-1"}},
		{name: "a pod of the plan that wants none (P127)", pods: slices.Concat(apps(1, "a", apart(zoneOf, of("b"))), apps(1, "b")), nodes: append(zones("a"), zoned("m", "a")), places: []string{"n-a: a-1", "m: b-1"}, breaks: together},
		{name: "a pod of the plan that wants none and comes later (P127)", pods: slices.Concat(apps(1, "b", apart(zoneOf, of("a"))), apps(1, "a")), nodes: zones("a"), places: []string{"n-a: a-1 b-1"}, breaks: together},
		{name: "a pod that is being deleted still wants none", pods: apps(1, "web"), running: []*corev1.Pod{app("r", "db", "n-a", apart(hostOf, of("web")), terminating)}, nodes: zones("a"), places: []string{"n-a: web-1"}, breaks: together},
		{name: "a pod that has ended does not", pods: apps(1, "web"), nodes: zones("a"), places: []string{"n-a: web-1"},
			running: []*corev1.Pod{with(app("r", "db", "n-a", apart(hostOf, of("web"))), func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })}},
		{name: "a wish of a running pod (P128)", pods: apps(1, "web"), running: []*corev1.Pod{app("r", "db", "n-a", apart(hostOf, of("web")), preferring)}, nodes: zones("a"), places: []string{"n-a: web-1"}},
		{name: "a wish of its own (P131)", pods: apps(1, "web", apart(hostOf, of("db")), preferring), running: []*corev1.Pod{app("r", "db", "n-a")}, nodes: zones("a"), places: []string{"n-a: web-1"}},
		{name: "each term by itself", pods: apps(1, "web", apart(hostOf, of("x")), apart(hostOf, of("db"))), running: []*corev1.Pod{app("r", "db", "n-a")}, nodes: zones("a"), places: []string{"n-a: web-1"}, breaks: together},
		{name: "one zone each", pods: apps(4, "web", apart(zoneOf, of("web"))), nodes: zones("a b c d"), places: []string{"n-a: web-1", "n-b: web-2", "n-c: web-3", "n-d: web-4"}},
		{name: "another namespace keeps nobody away (P129)", pods: apps(1, "web"), running: []*corev1.Pod{app("r", "db", "n-a", inSpace("other"), apart(hostOf, of("web")))}, nodes: zones("a"), places: []string{"n-a: web-1"}},
		{name: "unless it means all (P129)", pods: apps(1, "web"), nodes: zones("a"), places: []string{"n-a: web-1"}, breaks: together,
			running: []*corev1.Pod{app("r", "db", "n-a", inSpace("other"), apart(hostOf, of("web"), func(t *corev1.PodAffinityTerm) { t.NamespaceSelector = &metav1.LabelSelector{} }))}},
	} {
		tc.run(t)
	}
}

// TestMachinesAreCalledByTheirLaunch: violations name the launch in place of the host name, which is not known before
// the machine runs.
func TestMachinesAreCalledByTheirLaunch(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change change
		says   string
	}{
		{"affinity", near(hostOf, of("db")), "pod-affinity over kubernetes.io/hostname (pods of namespaces [\"default\"], labels app in (db)): launch/pool-1 has 0 of these pods"},
		{"anti-affinity", apart(hostOf, of("web")), "pod-anti-affinity over kubernetes.io/hostname (pods of namespaces [\"default\"], labels app in (web)): launch/pool-1 has 1 of these pods"},
		{"spread", spread(hostOf, 1, of("web"), minDomains(2)), "launch/pool-1 would have 2 pods, the minimum over domains is 0, maxSkew is 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &draft{p: scheduling.Problem{Pods: apps(2, "web", tc.change), NodePools: []*scheduling.NodePool{st.NodePool("pool")},
				Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.Cores(4), st.GiB(8)), st.OnDemand("a", 10)))},
				buys: []buy{{pool: "pool", pods: "web-1 web-2", options: []string{"m/a/on-demand"}}}}
			got := d.plan().violations(t)
			assert.NotEmpty(t, got)
			for _, v := range got {
				assert.NotContains(t, v.Error(), "\x00")
			}
			assert.Contains(t, got[len(got)-1].Error(), "cannot be scheduled to launch/pool-1")
			assert.Contains(t, got[len(got)-1].Error(), tc.says)
		})
	}
}
