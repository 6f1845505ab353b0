package schedulingtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/dice"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// UsedCluster returns a cluster of a number of nodes that was never packed well, as many users have it: nodes of the
// families c5, m5, m6i and r5 of 2 to 16 cores in all zones of the catalog, two in three of them spot, whose pods
// request 20 to 90 % of the cores. Of its services, one in five spreads over zones (DoNotSchedule, maxSkew 5), one in
// seven over hosts (ScheduleAnyway), one in ten has anti-affinity over hosts, and three in ten have a
// PodDisruptionBudget (maxUnavailable 25%). There are a DaemonSet and one NodePool, with a limit of twelve cores a node
// and a budget of 10%, which may launch every offering of the catalog. The same arguments give the same cluster. It
// panics if the catalog lacks nodes of these families, on spot or on demand.
func UsedCluster(seed uint64, nodes int, catalog *instancetypes.Catalog) disruption.Cluster {
	b := &clusterBuilder{dice: dice.New(seed)}
	c := &b.cluster
	b.options.Spot, b.options.ConsolidateAfter, b.options.Budgets = true, lasting(time.Minute), []scheduling.Budget{{Nodes: "10%"}}
	c.Problem = scheduling.Problem{
		Now: clusterTime(), Catalog: catalog, NodePools: []*scheduling.NodePool{with(b.pool(), []NodePoolOption{Limit(Cores(12 * int64(nodes)))})},
	}
	agent := serviceSize{cpu: 100, memory: 128}
	c.DaemonSets = append(c.DaemonSets, DaemonSet("agent", Namespace("kube-system"), agent.requests(), TolerateAll()))
	var machines [2][]machineOffer // on spot, and on demand
	for t := range catalog.All() {
		family, _, _ := strings.Cut(t.Name, ".")
		if cores := t.Capacity.Cpu().Value(); cores < 2 || cores > 16 || !slices.Contains([]string{"c5", "m5", "m6i", "r5"}, family) {
			continue
		}
		for _, o := range t.Offerings {
			switch o.CapacityType {
			case offerings.Spot:
				machines[0] = append(machines[0], machineOffer{t, o})
			case offerings.OnDemand:
				machines[1] = append(machines[1], machineOffer{t, o})
			}
		}
	}
	services := b.services(max(20, nodes/6))
	for i := range nodes {
		m := dice.Pick(b.dice, machines[b.dice.IntN(3)/2]...)
		node := Node(fmt.Sprintf("node-%05d", i+1), OfPool("default"), OfType(m.InstanceType, m.Offering))
		c.Nodes = append(c.Nodes, node)
		b.fill(node, services, agent)
	}
	b.finish()
	countBudgets(c)
	return *c
}

// machineOffer is a machine that is on sale.
type machineOffer struct {
	*instancetypes.InstanceType
	offerings.Offering
}

// serviceSize is the request of a pod, in thousandths of a core and MiB.
type serviceSize struct{ cpu, memory int64 }

func (s serviceSize) requests() PodOption { return Requests(MilliCPU(s.cpu), MiB(s.memory)) }

// usedService is a service of a [UsedCluster], with how many pods it has.
type usedService struct {
	serviceSize
	name    string
	options []PodOption
	apart   bool // at most one pod a host
	pods    int
}

// services draws services, and their PodDisruptionBudgets.
func (b *clusterBuilder) services(n int) []*usedService {
	var out []*usedService
	for i := range n {
		s := &usedService{name: fmt.Sprintf("app-%05d", i)}
		s.cpu = dice.Pick[int64](b.dice, 50, 100, 100, 200, 250, 500, 500, 1000, 2000)
		s.memory = dice.Pick[int64](b.dice, 64, 128, 256, 512, 1024, 2048, 4096)
		s.options = []PodOption{Label("app", s.name), OwnedBy("ReplicaSet", s.name), s.requests()}
		switch kind := b.dice.IntN(20); {
		case kind < 4:
			s.options = append(s.options, Spread(corev1.LabelTopologyZone, Skew(5)))
		case kind < 6:
			s.apart, s.options = true, append(s.options, Apart(corev1.LabelHostname))
		case kind < 9:
			s.options = append(s.options, Spread(corev1.LabelHostname, Soft()))
		}
		if b.dice.IntN(10) < 3 {
			b.cluster.PodDisruptionBudgets = append(b.cluster.PodDisruptionBudgets, DisruptionBudget(s.name, map[string]string{"app": s.name}, intstr.FromString("25%")))
		}
		out = append(out, s)
	}
	return out
}

// fill adds pods of random services to a node beside its daemon, up to a random share of its cores.
func (b *clusterBuilder) fill(node *corev1.Node, services []*usedService, daemon serviceSize) {
	all := node.Status.Allocatable
	cpu, memory, pods := all.Cpu().MilliValue()-daemon.cpu, all.Memory().Value()>>20-daemon.memory, all.Pods().Value()-1
	least := cpu - int64(float64(cpu)*(0.2+0.7*b.dice.Float64()))
	here := map[*usedService]bool{}
	for range 40 {
		s := dice.Pick(b.dice, services...)
		if cpu <= least || s.cpu > cpu || s.memory > memory || pods == 0 || s.apart && here[s] {
			continue
		}
		cpu, memory, pods, here[s] = cpu-s.cpu, memory-s.memory, pods-1, true
		s.pods++
		b.cluster.Running = append(b.cluster.Running, runs(Pod(fmt.Sprintf("%s-%d", s.name, s.pods), s.options...), node.Name, b.cluster.Now))
	}
}
