package oracle_test

import (
	"context"
	"strings"
	"testing"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Smallest problems with topology terms or volumes about which plan and kube-scheduler once differed, or might.
func TestTiedRegressions(t *testing.T) {
	const zone, host = offerings.ZoneLabel, corev1.LabelHostname
	m := st.Type("m", st.Capacity(st.Cores(4), st.GiB(32)), st.OnDemand("a", st.Cents(20)))
	small := st.Requests(st.MilliCPU(250), st.MiB(100))
	web := st.Label("app", "web")
	n := func(name, inZone string, opts ...st.NodeOption) *corev1.Node {
		return st.Node(name, append([]st.NodeOption{st.Allocatable(st.Cores(4), st.GiB(8)), st.Label(zone, inZone)}, opts...)...)
	}
	tests := []struct {
		name    string
		problem scheduling.Problem
		left    string // the pods without a place
	}{
		{
			// Zones count for spread whether or not their nodes have room.
			name: "a zone without room counts", left: "web-2",
			problem: scheduling.Problem{
				Nodes: []*corev1.Node{n("n-b", "b")},
				Pods: []*corev1.Pod{
					st.Pod("web-1", web, st.Requests(st.MilliCPU(500), st.GiB(9))),
					st.Pod("web-2", web, st.Requests(st.MilliCPU(500), st.GiB(10)), st.Spread(zone)),
				},
			},
		},
		{
			name: "on one host with themselves, and kept from others' zone", left: "x",
			problem: scheduling.Problem{Pods: []*corev1.Pod{
				st.Pod("web", web, small, st.Near(host)), st.Pod("x", small, st.Apart(zone, st.Of("app", "web"))),
			}},
		},
		{
			name: "each waits for the other", left: "left right",
			problem: scheduling.Problem{Pods: []*corev1.Pod{
				st.Pod("left", small, st.Label("app", "left"), st.Near(zone, st.Of("app", "right"))),
				st.Pod("right", small, st.Label("app", "right"), st.Near(host, st.Of("app", "left"))),
			}},
		},
		{
			// None matches its own term, so that none can be the first.
			name: "each waits for another version", left: "new old-1 old-2",
			problem: scheduling.Problem{Pods: append(
				st.Pods(2, "old", web, st.Label("version", "v1"), small, st.Near(host, st.Of("app", "web"), st.Other("version"))),
				st.Pod("new", web, st.Label("version", "v2"), small, st.Near(host, st.Of("app", "web"), st.Other("version"))),
			)},
		},
		{
			name: "as many on one host as it holds", left: "web-2",
			problem: scheduling.Problem{Pods: st.Pods(2, "web", web, st.Requests(st.MilliCPU(2500)), st.Near(host))},
		},
		{
			name: "one host, one port", left: "web-2",
			problem: scheduling.Problem{Pods: st.Pods(2, "web", web, small, st.HostPort(80), st.Near(host))},
		},
		{
			// The node in flight gets the labels of drivers when it joins.
			name: "a volume in the words of its driver", left: "",
			problem: scheduling.Problem{
				Nodes:   []*corev1.Node{inFlight(st.Node("n-a", st.OfPool("default"), st.Label(zone, "a")), st.Cores(4), st.GiB(8))},
				Volumes: []*corev1.PersistentVolume{st.Volume("disk", st.Where(st.In("topology.ebs.csi.aws.com/zone", "a")))},
				Claims:  []*corev1.PersistentVolumeClaim{st.Claim("data", st.BoundTo("disk"))},
				Pods:    st.Pods(1, "web", small, st.UseClaim("data")),
			},
		},
		{
			name: "a running pod that keeps others away", left: "web-1",
			problem: scheduling.Problem{
				Nodes:   []*corev1.Node{n("n-a", "a")},
				Running: []*corev1.Pod{st.Pod("loner", st.OnNode("n-a"), st.Apart(zone, st.Of("app", "web")))},
				Pods:    st.Pods(1, "web", web, small),
			},
		},
		{
			// Pods that are being deleted count for affinity, and not for spread.
			name: "pods on their way out", left: "",
			problem: scheduling.Problem{
				Nodes:   []*corev1.Node{n("n-b", "b")},
				Running: []*corev1.Pod{st.Pod("old", web, st.OnNode("n-b"), st.Deleting())},
				Pods:    []*corev1.Pod{st.Pod("near", small, st.Near(zone, st.Of("app", "web"))), st.Pod("web", web, small, st.Spread(zone), st.Where(st.In(zone, "b")))},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := tt.problem
			p.Catalog, p.NodePools = st.MustCatalog(m), []*scheduling.NodePool{st.NodePool("default")}
			plan, err := provisioning.Planner{}.Plan(t.Context(), p)
			require.NoError(t, err)
			var left []string
			for _, u := range plan.Unschedulable {
				left = append(left, strings.TrimPrefix(u.Pod, "default/"))
			}
			require.Equal(t, tt.left, strings.Join(left, " "))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s, err := oracle.NewSchedulerFor(ctx, &p)
			require.NoError(t, err)
			found, err := oracle.Check(ctx, s, &p, plan, oracle.Config{Samples: 2})
			require.NoError(t, err)
			require.Empty(t, found)
		})
	}
}
