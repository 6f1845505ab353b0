package oracle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

type daemonSet = appsv1.DaemonSet

// texts describe everything that a pool could buy for a pod.
func texts(t *testing.T, p *scheduling.Problem, pod *corev1.Pod) (out []string) {
	t.Helper()
	s := newShop(newWorld(p), pod)
	for _, pool := range p.NodePools {
		for item := range s.items(pool) {
			machines, err := item.machines("m")
			require.NoError(t, err)
			for _, m := range machines {
				out = append(out, m.Machine)
			}
		}
	}
	return out
}

// A pool may launch the offerings that are on sale, meet its requirements and agree with its labels.
func TestShopItems(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	failed := &offerings.Unavailable{}
	failed.Mark(offerings.Key{InstanceType: "failed", Zone: "a", CapacityType: offerings.Spot}, now, 0)
	catalog := st.MustCatalog(
		st.Type("arm", st.Capacity(st.Cores(2), st.GiB(4)), st.Label(corev1.LabelArchStable, "arm64"), st.Spot("a", 1)),
		st.Type("failed", st.Capacity(st.Cores(2), st.GiB(4)), st.Spot("a", 1)),
		st.Type("gone", st.Capacity(st.Cores(2), st.GiB(4)), st.Offer(offerings.Offering{Zone: "a", CapacityType: offerings.Spot, Unavailable: true})),
		st.Type("plain", st.Capacity(st.Cores(2), st.GiB(4)), st.Spot("a", 1), st.OnDemand("b", 2)),
		st.Type("reserved", st.Capacity(st.Cores(2), st.GiB(4)), st.Reserved("a", 1, "cr", 1), st.Reserved("b", 1, "cr-0", 0)),
	)
	zero := int64(0)
	tests := []struct {
		name string
		pool *scheduling.NodePool
		want []string
	}{
		{name: "everything", pool: st.NodePool("p"), want: []string{
			"empty arm spot in a of pool p", "empty plain spot in a of pool p", "empty plain on-demand in b of pool p", "empty reserved reserved in a of pool p",
		}},
		{name: "requirements", pool: st.NodePool("p", st.Where(st.In(offerings.CapacityTypeLabel, "spot"), st.In("beta.kubernetes.io/arch", "amd64"))), want: []string{"empty plain spot in a of pool p"}},
		{name: "labels", pool: st.NodePool("p", st.Label(corev1.LabelArchStable, "arm64")), want: []string{"empty arm spot in a of pool p"}},
		{name: "numbers", pool: st.NodePool("p", st.Where(st.Gte("example.com/level", 3), st.Lte("example.com/level", 3))), want: []string{
			"empty arm spot in a of pool p with example.com/level=3", "empty plain spot in a of pool p with example.com/level=3",
			"empty plain on-demand in b of pool p with example.com/level=3", "empty reserved reserved in a of pool p with example.com/level=3",
		}},
		{name: "nothing left", pool: st.NodePool("p", st.Where(st.In(offerings.ZoneLabel, "c")))},
		{name: "static", pool: st.NodePool("p", st.Replicas(zero))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &scheduling.Problem{Catalog: catalog, NodePools: []*scheduling.NodePool{tt.pool}, Unavailable: failed, Now: now}
			require.Equal(t, tt.want, texts(t, p, st.Pod("web")))
		})
	}
	t.Run("own catalog", func(t *testing.T) {
		p := &scheduling.Problem{
			Catalog: catalog, NodePools: []*scheduling.NodePool{st.NodePool("p")},
			PoolCatalogs: map[string]*instancetypes.Catalog{"p": st.MustCatalog(st.Type("own", st.Capacity(st.Cores(1), st.GiB(4)), st.Spot("z", 1)))},
		}
		require.Equal(t, []string{"empty own spot in z of pool p"}, texts(t, p, st.Pod("web")))
	})
}

// Labels that the pool leaves open get every value that some pod or DaemonSet tells apart.
func TestShopChoices(t *testing.T) {
	const disk = "example.com/disk"
	tests := []struct {
		name    string
		pool    st.NodePoolOption
		pod     []st.PodOption
		daemons []*daemonSet
		want    []string // the values chosen
	}{
		{name: "nobody asks", pool: st.Where(st.In(disk, "ssd", "hdd")), want: []string{"example.com/disk=ssd"}},
		{name: "nothing to choose", pool: st.Label(disk, "ssd"), pod: []st.PodOption{st.Select(disk, "hdd")}, want: []string{"<none>"}},
		{
			name: "the pod asks", pool: st.Where(st.Exists(disk)), pod: []st.PodOption{st.Select(disk, "hdd")},
			want: []string{"example.com/disk=hdd", "example.com/disk=any-other"},
		},
		{
			name: "the pool excludes it", pool: st.Where(st.NotIn(disk, "hdd")), pod: []st.PodOption{st.Select(disk, "hdd")},
			want: []string{"example.com/disk=any-other", "<none>"},
		},
		{
			name: "a daemon asks", pool: st.Where(st.Exists(disk)), daemons: []*daemonSet{st.DaemonSet("d", st.Select(disk, "ssd"))},
			want: []string{"example.com/disk=ssd", "example.com/disk=any-other"},
		},
		{
			name: "a number", pool: st.Where(st.Exists("example.com/level")), pod: []st.PodOption{st.Where(st.Gt("example.com/level", 3))},
			want: []string{"example.com/level=3", "example.com/level=2", "example.com/level=4", "example.com/level=any-other"},
		},
		{
			name: "the region", pool: st.Where(st.Exists(disk)), pod: []st.PodOption{st.Select(corev1.LabelTopologyRegion, "here")},
			want: []string{
				"example.com/disk=any-other,topology.kubernetes.io/region=here",
				"example.com/disk=any-other,topology.kubernetes.io/region=any-other", "example.com/disk=any-other",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(&scheduling.Problem{DaemonSets: tt.daemons})
			s := newShop(w, st.Pod("web", tt.pod...))
			pool := st.NodePool("p", tt.pool)
			var got []string
			for _, choice := range s.choices(newRules(pool), givenLabels(pool), map[string]bool{}) {
				got = append(got, labels.FormatLabels(choice))
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// However many labels are open, the number of combinations stays within bounds.
func TestShopChoicesAreBounded(t *testing.T) {
	var values []string
	for i := range 20 {
		values = append(values, string(rune('a'+i)))
	}
	pool := st.NodePool("p", st.Where(st.In("a.example.com/x", values...), st.In("b.example.com/x", values...)))
	pod := st.Pod("web", st.Where(st.In("a.example.com/x", values...), st.In("b.example.com/x", values...)))
	s := newShop(newWorld(&scheduling.Problem{}), pod)
	require.Len(t, s.choices(newRules(pool), givenLabels(pool), nil), mostChoices)
}
