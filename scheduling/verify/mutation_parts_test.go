package verify_test

import (
	"slices"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

func optionMutations() []mutation {
	return []mutation{
		{"option twice", func(f *fixture) {
			l := f.launch("default-1")
			l.Options = slices.Insert(l.Options, 1, l.Options[0])
		}, broken(verify.CodeOptionDuplicated)},
		{"options out of order", func(f *fixture) {
			l := f.launch("default-1")
			l.Options[2], l.Options[4] = l.Options[4], l.Options[2]
		}, broken(verify.CodeOptionOrder)},
		{"options in the order of another strategy", func(f *fixture) {
			f.solver.Ranking = offerings.Ranking{Strategy: offerings.Prioritized, Priorities: map[string]int{"large": 1}}
		}, broken(verify.CodeOptionOrder)},
		{"price of the first option forged", func(f *fixture) {
			l := f.launch("default-1")
			l.Options[0].Price, l.Price = st.Cents(2), st.Cents(2)
			f.sum()
		}, broken(verify.CodeOptionPrice)},
		{"price of another option forged", func(f *fixture) { f.launch("default-1").Options[3].Price++ }, broken(verify.CodeOptionPrice)},
		{"interruption rate forged", func(f *fixture) { f.launch("default-1").Options[0].InterruptionRate = 0.01 }, broken(verify.CodeOptionInterruption)},
		{"interruption rate hidden", func(f *fixture) {
			f.p.Catalog = remade(f.p.Catalog, func(t *instancetypes.InstanceType, o *offerings.Offering) {
				if t.Name == "large" && o.CapacityType == offerings.Spot {
					o.InterruptionRate = 0.2
				}
			})
		}, broken(verify.CodeOptionInterruption)},
		{"an estimate forged", func(f *fixture) { f.launch("default-1").Options[0].Estimated = []string{"zone"} }, broken(verify.CodeOptionEstimated)},
		{"spot although there is to be none", func(f *fixture) { f.solver.NoSpot = true }, broken(verify.CodeOptionExcluded)},
		{"a machine below the smallest", func(f *fixture) {
			f.solver.Size.Smallest = st.Resources(st.MilliCPU(2001), st.GiB(1))
		}, broken(verify.CodeOptionExcluded)},
		{"a machine above the largest", func(f *fixture) { f.solver.Size.Largest = st.Resources(st.GiB(31)) }, broken(verify.CodeOptionExcluded)},
		{"unknown type", func(f *fixture) { f.launch("default-1").Options[4].InstanceType = "huge" }, broken(verify.CodeTypeUnknown)},
		{"type that another pool's catalog has", func(f *fixture) {
			f.p.PoolCatalogs = map[string]*instancetypes.Catalog{"gpu": st.MustCatalog()}
			f.plan.Summary.Resources = nil
		}, broken(verify.CodeTypeUnknown)},
		{"zone in which it is not sold", func(f *fixture) { f.launch("default-1").Options[3].Zone = "b" }, broken(verify.CodeOfferingUnknown)},
		{"capacity type in which it is not sold", func(f *fixture) {
			f.launch("gpu-1").Options[0].CapacityType = offerings.Spot
			f.plan.Summary.Resources = nil
			f.sum()
		}, broken(verify.CodeOfferingUnknown)},
		{"unknown reservation", func(f *fixture) {
			f.launch("reserved-1").Options[0].ReservationID = "cr-2"
			f.plan.Summary.Resources = nil
		}, broken(verify.CodeOfferingUnknown)},
		{"offering marked unavailable", func(f *fixture) {
			f.p.Catalog = remade(f.p.Catalog, func(t *instancetypes.InstanceType, o *offerings.Offering) {
				o.Unavailable = t.Name == "large" && o.CapacityType == offerings.OnDemand
			})
		}, broken(verify.CodeOfferingUnavailable)},
		{"offering failed lately", func(f *fixture) {
			f.p.Unavailable = &offerings.Unavailable{}
			f.p.Unavailable.Mark(offerings.Key{InstanceType: "small", Zone: "b"}, f.p.Now.Add(-time.Minute), 0)
		}, broken(verify.CodeOfferingUnavailable)},
		{"type that the pool excludes", func(f *fixture) {
			f.pool("default").Spec.Template.Spec.Requirements = append(f.pool("default").Spec.Template.Spec.Requirements, st.NotIn(typeOf, "large"))
			f.pool("default").Spec.Template.Spec.Requirements[0].MinValues = nil
		}, broken(verify.CodePoolRequirements)},
		{"capacity type that the pool excludes", func(f *fixture) {
			f.pool("default").Spec.Template.Spec.Requirements[1] = st.In(offerings.CapacityTypeLabel, "spot")
		}, broken(verify.CodePoolRequirements)},
		{"zone that the pool excludes by an alias", func(f *fixture) {
			f.pool("team").Spec.Template.Spec.Requirements = append(f.pool("team").Spec.Template.Spec.Requirements,
				st.In("failure-domain.beta.kubernetes.io/zone", "a"))
		}, broken(verify.CodePoolRequirements)},
		{"numbers that the pool excludes", func(f *fixture) {
			f.pool("gpu").Spec.Template.Spec.Requirements = []requirements.Selector{st.Gte(gpuOf, 2)}
		}, broken(verify.CodePoolRequirements)},
		{"label of the pool that the type contradicts", func(f *fixture) {
			f.pool("gpu").Spec.Template.Metadata.Labels = map[string]string{gpuOf: "8"}
			f.launch("gpu-1").Labels = map[string]string{gpuOf: "8"}
		}, broken(verify.CodePoolRequirements)},
	}
}

// filterMutations place pods on options that a filter of kube-scheduler refuses: node affinity, taints, ports, volumes
// or resources.
func filterMutations() []mutation {
	return []mutation{
		{"node selector", func(f *fixture) { f.pod("web-2").Spec.NodeSelector = map[string]string{zoneOf: "a"} }, broken(verify.CodeNodeAffinity)},
		{"node affinity", func(f *fixture) {
			requireTerm(f.pod("web-2"), st.In(typeOf, "large"))
		}, broken(verify.CodeNodeAffinity)},
		{"node affinity that matches nothing", func(f *fixture) {
			requireTerm(f.pod("web-2"))
		}, broken(verify.CodeNodeAffinity)},
		{"custom label that the pool does not define", func(f *fixture) {
			requireTerm(f.pod("web-2"), st.In(team, "red"))
		}, broken(verify.CodeNodeAffinity)},
		{"field selector", func(f *fixture) { f.pod("web-2").Spec.Affinity = byName("n1") }, broken(verify.CodeNodeAffinity)},
		{"region that the launch does not promise", func(f *fixture) {
			f.pod("web-2").Spec.NodeSelector = map[string]string{corev1.LabelTopologyRegion: "r1"}
		}, broken(verify.CodeNodeAffinity)},
		{"region that the launch leaves to others", func(f *fixture) {
			f.pod("web-2").Spec.NodeSelector = map[string]string{corev1.LabelTopologyRegion: "r1"}
			f.launch("default-1").Requirements = append(f.launch("default-1").Requirements, st.Exists(corev1.LabelTopologyRegion))
		}, broken(verify.CodeNodeAffinity)},
		{"toleration dropped", func(f *fixture) { f.pod("gpu-1").Spec.Tolerations = nil }, broken(verify.CodeTaints)},
		{"taint added to the pool and the launch", func(f *fixture) {
			taints := []corev1.Taint{{Key: "example.com/x", Effect: corev1.TaintEffectNoExecute}}
			f.pool("team").Spec.Template.Spec.Taints = taints
			f.launch("team-1").Taints = taints
		}, broken(verify.CodeTaints)},
		{"two pods with one host port", func(f *fixture) {
			f.pod("web-1").Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}}
			f.pod("web-3").Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, Protocol: corev1.ProtocolTCP, HostIP: "10.0.0.1"}}
		}, broken(verify.CodeHostPorts)},
		{"host port of a daemon", func(f *fixture) {
			f.p.DaemonSets[1].Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 9400}}
			f.pod("gpu-1").Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 9400}}
		}, broken(verify.CodeHostPorts)},
		{"too much memory", func(f *fixture) {
			f.pod("red-1").Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = quantity("4Gi")
			f.launch("team-1").Requests[corev1.ResourceMemory] = quantity("4224Mi")
		}, broken(verify.CodeResources)},
		{"device that the machine has not", func(f *fixture) {
			f.pod("red-1").Spec.Containers[0].Resources.Limits = st.Resources(st.Count(gpus, 1))
			f.launch("team-1").Requests[gpus] = quantity("1")
			f.plan.Summary.Resources[1] = scheduling.ResourceUse{Resource: string(gpus), Capacity: 1, Pods: 2, Free: -1}
		}, broken(verify.CodeResources)},
	}
}

func byName(node string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}},
		}}},
	}}}
}

func nodeMutations() []mutation {
	return []mutation{
		{"node unknown", func(f *fixture) {
			f.plan.Existing[1].Node = "n9"
		}, broken(verify.CodeNodeUnknown)},
		{"node that is being deleted", func(f *fixture) { f.plan.Existing[1].Node = "n4" }, broken(verify.CodeNodeLeaving)},
		{"node that is being disrupted", func(f *fixture) {
			f.node("n1").Spec.Taints = append(f.node("n1").Spec.Taints, corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule})
		}, broken(verify.CodeNodeLeaving, verify.CodeTaints)},
		{"node listed twice", func(f *fixture) {
			f.plan.Existing[0].Pods = nil
			f.plan.Existing = slices.Insert(f.plan.Existing, 1, scheduling.Assignment{Node: "n1", Pods: []string{"shop/db-1"}})
		}, broken(verify.CodeNodeDuplicated, verify.CodeNodeEmpty)},
		{"node without pods", func(f *fixture) {
			f.plan.Existing = slices.Insert(f.plan.Existing, 1, scheduling.Assignment{Node: "n2"})
		}, broken(verify.CodeNodeEmpty)},
		{"node that has no room", func(f *fixture) { f.plan.Existing[1].Node = "n2" }, broken(verify.CodeResources)},
		{"node that has no room for its own daemons", func(f *fixture) {
			f.p.Running[2].Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = quantity("1500m")
			f.plan.Existing[1].Node = "n2"
			f.claim(0)
		}, broken(verify.CodeResources)},
		{"node that is cordoned", func(f *fixture) { f.node("n3").Spec.Unschedulable = true }, broken(verify.CodeTaints)},
		{"node whose taint is not tolerated", func(f *fixture) { f.pod("db-1").Spec.Tolerations = nil }, broken(verify.CodeTaints)},
		{"start-up taint that is back", func(f *fixture) {
			f.node("n3").Labels[scheduling.RegisteredLabel] = "true"
			f.node("n3").Labels[scheduling.InitializedLabel] = "true"
			f.node("n3").Status.Allocatable = st.Resources(st.Cores(2), st.GiB(4), st.Count(corev1.ResourcePods, 10))
			f.node("n3").Status.Capacity = f.node("n3").Status.Allocatable
		}, broken(verify.CodeTaints)},
		{"taint that the pool puts on nodes that register", func(f *fixture) {
			taints := []corev1.Taint{{Key: "example.com/x", Effect: corev1.TaintEffectNoSchedule}}
			f.pool("default").Spec.Template.Spec.Taints = taints
			f.launch("default-1").Taints = taints
			for _, name := range []string{"web-1", "web-2", "web-3"} {
				f.pod(name).Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
			}
		}, broken(verify.CodeTaints, verify.CodeBoundUnproven)},
		{"nominated to a node that could hold it", func(f *fixture) { f.pod("web-1").Status.NominatedNodeName = "n3" }, broken(verify.CodeNominationIgnored)},
		{"promised a node that could hold it", func(f *fixture) {
			f.p.Nominated = map[types.NamespacedName]string{{Namespace: "shop", Name: "web-2"}: "n3"}
		}, broken(verify.CodeNominationIgnored)},
		{"node label", func(f *fixture) { delete(f.node("n1").Labels, role) }, broken(verify.CodeNodeAffinity)},
		{"alias of a node label", func(f *fixture) {
			f.pod("db-1").Spec.NodeSelector["failure-domain.beta.kubernetes.io/zone"] = "a"
		}, broken(verify.CodeNodeAffinity)},
		{"another node by name", func(f *fixture) { f.pod("db-1").Spec.Affinity = byName("n2") }, broken(verify.CodeNodeAffinity)},
		{"host port of a running pod", func(f *fixture) {
			f.p.Running = append(f.p.Running, st.Pod("proxy", st.OnNode("n3"), st.HostPort(8080)))
		}, broken(verify.CodeHostPorts)},
		{"host port of a daemon still to come", func(f *fixture) {
			f.p.DaemonSets[0].Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 8080}}
			f.p.Running = f.p.Running[1:]
		}, broken(verify.CodeHostPorts)},
	}
}

// virtual makes the pods of a launch virtual, with the room that they keep, changed by a function; nil leaves the room out.
func virtual(change func(r *scheduling.RoomKept)) func(f *fixture) {
	return func(f *fixture) {
		for _, name := range []string{"web-1", "web-2", "web-3"} {
			f.pod(name).Annotations = map[string]string{scheduling.VirtualPodAnnotation: "true"}
		}
		f.plan.Summary.Pods, f.plan.Summary.Placed = f.plan.Summary.Pods-3, f.plan.Summary.Placed-3
		if change != nil {
			f.plan.Summary.RoomKept = &scheduling.RoomKept{Pods: 3, Launched: 3, Requests: st.Resources(st.MilliCPU(1500), st.GiB(3), st.Count(corev1.ResourcePods, 3))}
			change(f.plan.Summary.RoomKept)
		}
	}
}

func summaryMutations() []mutation {
	change := func(change func(s *scheduling.Summary)) func(f *fixture) {
		return func(f *fixture) { change(&f.plan.Summary) }
	}
	return []mutation{
		{"pods", change(func(s *scheduling.Summary) { s.Pods++ }), broken(verify.CodeSummaryCounts)},
		{"placed", change(func(s *scheduling.Summary) { s.Placed-- }), broken(verify.CodeSummaryCounts)},
		{"nodes", change(func(s *scheduling.Summary) { s.Nodes = 3 }), broken(verify.CodeSummaryCounts)},
		{"pods without requests", change(func(s *scheduling.Summary) { s.PodsWithoutRequests = 1 }), broken(verify.CodeSummaryCounts)},
		{"price", func(f *fixture) {
			s := &f.plan.Summary
			s.PricePerHour--
			s.Gap = float64(s.PricePerHour-s.LowerBoundPerHour) / float64(s.LowerBoundPerHour)
		}, broken(verify.CodeSummaryPrice)},
		{"realised below the price", change(func(s *scheduling.Summary) {
			s.AfterScheduling = &scheduling.AfterScheduling{ExpectedPerHour: s.PricePerHour - 1, WorstPerHour: s.PricePerHour}
		}), broken(verify.CodeSummaryAfterScheduling)},
		{"gap", change(func(s *scheduling.Summary) { s.Gap *= 0.99 }), broken(verify.CodeSummaryGap)},
		{"gap where there is no bound", func(f *fixture) {
			f.claim(0)
			f.plan.Summary.Gap = 1
		}, broken(verify.CodeSummaryGap)},
		{"status missing", change(func(s *scheduling.Summary) { s.Status = "" }), broken(verify.CodeSummaryStatus)},
		{"status unknown", change(func(s *scheduling.Summary) { s.Status = "perfect" }), broken(verify.CodeSummaryStatus)},
		{"optimal above the bound", change(func(s *scheduling.Summary) { s.Status = scheduling.StatusOptimal }), broken(verify.CodeSummaryStatus)},
		{"share of a pool", change(func(s *scheduling.Summary) { s.Pools[0].Nodes++ }), broken(verify.CodeSummaryShares)},
		{"share's price", change(func(s *scheduling.Summary) { s.CapacityTypes[0].PricePerHour++ }), broken(verify.CodeSummaryShares)},
		{"share dropped", change(func(s *scheduling.Summary) { s.Pools = s.Pools[1:] }), broken(verify.CodeSummaryShares)},
		{"shares dropped", change(func(s *scheduling.Summary) { s.CapacityTypes = nil }), broken(verify.CodeSummaryShares)},
		{"share twice", change(func(s *scheduling.Summary) { s.Pools = append(s.Pools, s.Pools[0]) }), broken(verify.CodeSummaryShares)},
		{"share of nobody", change(func(s *scheduling.Summary) { s.Pools = append(s.Pools, scheduling.Share{Name: "x", Nodes: 1}) }), broken(verify.CodeSummaryShares)},
		{"capacity bought", change(func(s *scheduling.Summary) { s.Resources[0].Capacity++ }), broken(verify.CodeSummaryResources)},
		{"capacity reserved", change(func(s *scheduling.Summary) { s.Resources[0].Reserved++ }), broken(verify.CodeSummaryResources)},
		{"daemons hidden among pods", change(func(s *scheduling.Summary) {
			s.Resources[0].Pods += s.Resources[0].Daemons
			s.Resources[0].Daemons = 0
		}), broken(verify.CodeSummaryResources)},
		{"free capacity", change(func(s *scheduling.Summary) { s.Resources[0].Free = 0 }), broken(verify.CodeSummaryResources)},
		{"room kept without virtual pods", change(func(s *scheduling.Summary) { s.RoomKept = &scheduling.RoomKept{Pods: 1} }), broken(verify.CodeSummaryRoomKept)},
		{"room counted among the pods", func(f *fixture) {
			virtual(func(*scheduling.RoomKept) {})(f)
			f.plan.Summary.Pods, f.plan.Summary.Placed = f.plan.Summary.Pods+3, f.plan.Summary.Placed+3
		}, broken(verify.CodeSummaryCounts)},
		{"room not told", virtual(nil), broken(verify.CodeSummaryRoomKept)},
		{"room of too few pods", virtual(func(r *scheduling.RoomKept) { r.Pods, r.Launched = 2, 2 }), broken(verify.CodeSummaryRoomKept)},
		{"room on existing nodes", virtual(func(r *scheduling.RoomKept) { r.Existing, r.Launched = 3, 0 }), broken(verify.CodeSummaryRoomKept)},
		{"room larger than the pods", virtual(func(r *scheduling.RoomKept) { r.Requests = st.Resources(st.Cores(2)) }), broken(verify.CodeSummaryRoomKept)},
		{"room at a price without a plan", virtual(func(r *scheduling.RoomKept) { r.PricePerHour = lo.ToPtr(st.Cents(1)) }), broken(verify.CodeSummaryRoomKept)},
		{"shares of a SpotPolicy that the problem lacks", change(func(s *scheduling.Summary) { s.SpotShares = []scheduling.SpotShare{{Policy: "web"}} }), broken(verify.CodeSummarySpotShares)},
		{"resource twice", change(func(s *scheduling.Summary) { s.Resources = append(s.Resources, s.Resources[0]) }), broken(verify.CodeSummaryResources)},
		{"bound above the price", func(f *fixture) { f.claim(f.plan.Summary.PricePerHour + 1) }, broken(verify.CodeBoundAbovePrice, verify.CodeBoundUnproven)},
		{"bound negative", func(f *fixture) { f.plan.Summary.LowerBoundPerHour = -1; f.plan.Summary.Gap = -1.06e9 - 1 }, broken(verify.CodeBoundAbovePrice)},
		{"bound raised by one nano-USD", func(f *fixture) { f.claim(f.plan.Summary.LowerBoundPerHour + 1) }, broken(verify.CodeBoundUnproven)},
		{"bound raised to the price", func(f *fixture) {
			f.claim(f.plan.Summary.PricePerHour)
			f.plan.Summary.Status = scheduling.StatusOptimal
		}, broken(verify.CodeBoundUnproven)},
		{"certificate of nothing", change(func(s *scheduling.Summary) { s.Certificate.Values = nil }), broken(verify.CodeBoundUnproven)},
		{"certificate of a resource that nobody asks for", change(func(s *scheduling.Summary) {
			s.Certificate.Values = map[string]string{"example.com/fpga": "1000000000000"}
		}), broken(verify.CodeBoundUnproven)},
		{"certificate lowered", change(func(s *scheduling.Summary) { s.Certificate.Values["cpu"] = "14999" }), broken(verify.CodeBoundUnproven)},
		{"an expected price where interruptions cost nothing", change(func(s *scheduling.Summary) { s.ExpectedPerHour = s.PricePerHour }), broken(verify.CodeSummaryExpected)},
		{"no expected price where interruptions cost something", func(f *fixture) {
			f.solver.InterruptionCost.PerNode = offerings.MustAmount("1")
			f.plan.Summary.LowerBoundPerHour, f.plan.Summary.Gap, f.plan.Summary.Certificate = 0, 0, nil
		}, broken(verify.CodeSummaryExpected)},
		{"certificate scaled down", change(func(s *scheduling.Summary) { s.Certificate.Scale = 1 }), broken(verify.CodeBoundUnproven)},
		{"certificate dropped", change(func(s *scheduling.Summary) { s.Certificate = nil }), broken(verify.CodeCertificateMissing)},
		{"certificate of another kind", change(func(s *scheduling.Summary) { s.Certificate.Kind = "" }), broken(verify.CodeCertificateMalformed)},
		{"certificate with a negative value", change(func(s *scheduling.Summary) { s.Certificate.Values["memory"] = "-1" }), broken(verify.CodeCertificateMalformed)},
		{"certificate with a fraction", change(func(s *scheduling.Summary) { s.Certificate.Values["cpu"] = "15000.5" }), broken(verify.CodeCertificateMalformed)},
		{"certificate with a negative scale", change(func(s *scheduling.Summary) { s.Certificate.Scale = -1 }), broken(verify.CodeCertificateMalformed)},
		{"certificate with a scale without end", change(func(s *scheduling.Summary) { s.Certificate.Scale = 1 << 40 }), broken(verify.CodeCertificateMalformed)},
		{"certificate that values a core above its price", change(func(s *scheduling.Summary) { s.Certificate.Values["cpu"] = "15790" }), broken(verify.CodeCertificateOption)},
		{"certificate that values what comes with a core", change(func(s *scheduling.Summary) { s.Certificate.Values["memory"] = "1" }), broken(verify.CodeCertificateOption)},
	}
}

func betterMutations() []mutation {
	refuse := func(f *fixture, pod string) {
		f.plan.Unschedulable = append(f.plan.Unschedulable, scheduling.Unschedulable{
			Pod: pod, Message: "no", Reasons: []scheduling.ReasonCount{{Code: scheduling.ReasonUnsupported, Count: 1}}, Fixes: []string{"ask for less"},
		})
		f.plan.Summary.Resources = nil
		f.claim(0)
	}
	return []mutation{
		{"pod refused that a pool can launch for", func(f *fixture) {
			f.plan.Launches = f.plan.Launches[:3]
			refuse(f, "shop/red-1")
		}, broken(verify.CodeRefusedForNothing)},
		{"pod refused that a node can hold", func(f *fixture) {
			f.plan.Existing = f.plan.Existing[1:]
			refuse(f, "shop/db-1")
		}, broken(verify.CodeRefusedForNothing)},
		{"every pod refused", func(f *fixture) {
			f.plan = &scheduling.Plan{Summary: scheduling.Summary{Status: scheduling.StatusOptimal}}
			for _, pod := range f.p.Pods {
				name := "shop/" + pod.Name
				if pod.Namespace != "shop" {
					name = "default/" + pod.Name
				}
				refuse(f, name)
			}
		}, broken(verify.CodeRefusedForNothing)},
		{"pool of a higher weight ignored", func(f *fixture) {
			w := int32(20)
			f.pool("team").Spec.Weight = &w
		}, broken(verify.CodeWeightIgnored)},
	}
}

// requireTerm sets the required node affinity of the pod.
func requireTerm(pod *corev1.Pod, exprs ...requirements.Selector) {
	pod.Spec.Affinity = st.Pod("x", st.Where(exprs...)).Spec.Affinity
}
