package disruption

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// noon is a Wednesday.
func noon() time.Time { return time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC) }

func poolWithBudgets(budgets ...scheduling.Budget) *scheduling.NodePool {
	pool := &scheduling.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	pool.Spec.Disruption.Budgets = budgets
	return pool
}

// testNode is a node of the pool default that is at work.
func testNode(name string, change ...func(*corev1.Node)) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		scheduling.NodePoolLabel: "default", scheduling.InitializedLabel: "true", scheduling.RegisteredLabel: "true",
		offerings.CapacityTypeLabel: "on-demand", corev1.LabelInstanceTypeStable: "m.large", corev1.LabelTopologyZone: "a",
		corev1.LabelHostname: name, corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux",
	}}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	for _, c := range change {
		c(node)
	}
	return node
}

func notReady(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }

func deleting(n *corev1.Node) { n.DeletionTimestamp = &metav1.Time{Time: noon()} }

func uninitialized(n *corev1.Node) { delete(n.Labels, scheduling.InitializedLabel) }

func TestRoom(t *testing.T) {
	for name, tc := range map[string]struct {
		budget string
		nodes  []*corev1.Node
		gone   []string // nodes whose instances are being shut down
		want   int
	}{
		"D35 all that are initialized count":          {"50%", []*corev1.Node{testNode("a"), testNode("b"), testNode("c"), testNode("d")}, nil, 2},
		"D35 those that are not do not":               {"100%", []*corev1.Node{testNode("a"), testNode("b", uninitialized)}, nil, 1},
		"D35 those of nobody do not":                  {"100%", []*corev1.Node{testNode("a"), {ObjectMeta: metav1.ObjectMeta{Name: "z"}}}, nil, 1},
		"D35 nor do instances that are shutting down": {"100%", []*corev1.Node{testNode("a"), testNode("b")}, []string{"b"}, 1},
		"D36 nodes that are not ready are away":       {"3", []*corev1.Node{testNode("a"), testNode("b"), testNode("c"), testNode("d", notReady)}, nil, 2},
		"D36 so are those that are being deleted":     {"3", []*corev1.Node{testNode("a"), testNode("b"), testNode("c", notReady), testNode("d", deleting)}, nil, 1},
		"D36 never less than none":                    {"1", []*corev1.Node{testNode("a"), testNode("b", notReady), testNode("c", notReady)}, nil, 0},
		"D36 what is both counts once":                {"2", []*corev1.Node{testNode("a"), testNode("b", notReady, deleting)}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := &Cluster{Problem: scheduling.Problem{Nodes: tc.nodes, NodePools: []*scheduling.NodePool{poolWithBudgets(scheduling.Budget{Nodes: tc.budget})}}}
			for _, name := range tc.gone {
				c.Machines = append(c.Machines, Machine{Node: name, Terminating: true})
			}
			f := newState(Planner{Now: noon()}, c)
			for _, reason := range []Reason{Empty, Drifted, Underutilized} { // D37: away is away, for whatever reason
				assert.Equal(t, tc.want, f.poolAllowance(f.pools["default"], reason), reason)
			}
		})
	}
}
