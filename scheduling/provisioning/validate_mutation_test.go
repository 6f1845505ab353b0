package provisioning_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// breakage spoils one thing in a valid problem.
type breakage struct {
	// spoil returns the path of the fault that must be found.
	spoil func(rng *rand.Rand, p *scheduling.Problem) (path string)
	// wants reports whether the problem has the objects that the mutation changes.
	wants func(p *scheduling.Problem) bool
}

func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

func hasPods(p *scheduling.Problem) bool { return len(p.Pods) > 0 }

func hasPools(p *scheduling.Problem) bool { return len(p.NodePools) > 0 }

func hasNodes(p *scheduling.Problem) bool { return len(p.Nodes) > 0 }

func hasDaemons(p *scheduling.Problem) bool { return len(p.DaemonSets) > 0 }

// inPod spoils a pod's spec; path lies below the spec.
func inPod(path string, spoil func(*corev1.PodSpec)) breakage {
	return breakage{wants: hasPods, spoil: func(rng *rand.Rand, p *scheduling.Problem) string {
		pod := pick(rng, p.Pods)
		spoil(&pod.Spec)
		return fmt.Sprintf("pods[%s/%s].spec.%s", pod.Namespace, pod.Name, path)
	}}
}

// inPool spoils a NodePool; path lies below it.
func inPool(path string, spoil func(*scheduling.NodePool)) breakage {
	return breakage{wants: hasPools, spoil: func(rng *rand.Rand, p *scheduling.Problem) string {
		pool := pick(rng, p.NodePools)
		spoil(pool)
		return fmt.Sprintf("nodepools[%s].%s", pool.Name, path)
	}}
}

func breakages() map[string]breakage {
	negative := resource.MustParse("-1")
	return map[string]breakage{
		"negative request": inPod("containers[0].resources.requests.cpu", func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: negative}
		}),
		"negative limit": inPod("containers[0].resources.limits[example.com/thing]", func(s *corev1.PodSpec) {
			s.Containers[0].Resources = corev1.ResourceRequirements{Limits: corev1.ResourceList{"example.com/thing": negative}}
		}),
		"negative overhead": inPod("overhead.memory", func(s *corev1.PodSpec) {
			s.Overhead = corev1.ResourceList{corev1.ResourceMemory: negative}
		}),
		"less for the pod than for its containers": inPod("resources.requests.cpu", func(s *corev1.PodSpec) {
			s.Containers[0].Resources = corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}
			s.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("499m")}}
		}),
		"host port": inPod("containers[0].ports[0].hostPort", func(s *corev1.PodSpec) {
			s.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 1 << 16}}
		}),
		"node selector": inPod("nodeSelector[example.com/a]", func(s *corev1.PodSpec) {
			s.NodeSelector = map[string]string{"example.com/a": "not a label"}
		}),
		"toleration": inPod("tolerations[0].operator", func(s *corev1.PodSpec) {
			s.Tolerations = []corev1.Toleration{{Key: "a", Operator: "Like"}}
		}),
		"affinity": inPod("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values",
			func(s *corev1.PodSpec) {
				s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "a", Operator: "In"}}}},
				}}}
			}),
		"a pod twice": {wants: hasPods, spoil: func(rng *rand.Rand, p *scheduling.Problem) string {
			pod := pick(rng, p.Pods)
			p.Pods = append(p.Pods, pod)
			return fmt.Sprintf("pods[%s/%s]", pod.Namespace, pod.Name)
		}},
		"a pod that runs too": {wants: hasPods, spoil: func(rng *rand.Rand, p *scheduling.Problem) string {
			pod := pick(rng, p.Pods)
			runs := *pod
			runs.Spec.NodeName = "somewhere"
			p.Running = append(p.Running, &runs)
			return fmt.Sprintf("running[%s/%s]", pod.Namespace, pod.Name)
		}},
		"a running pod without a node": {wants: hasPods, spoil: func(rng *rand.Rand, p *scheduling.Problem) string {
			runs := *pick(rng, p.Pods)
			runs.Name = "runs-nowhere"
			p.Running = append(p.Running, &runs)
			return fmt.Sprintf("running[%s/%s].spec.nodeName", runs.Namespace, runs.Name)
		}},
		"a node twice": {wants: hasNodes, spoil: func(rng *rand.Rand, p *scheduling.Problem) string {
			node := pick(rng, p.Nodes)
			p.Nodes = append(p.Nodes, node)
			return fmt.Sprintf("nodes[%s]", node.Name)
		}},
		"a node with a debt": {wants: hasNodes, spoil: func(rng *rand.Rand, p *scheduling.Problem) string {
			node := pick(rng, p.Nodes)
			node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: negative}
			return fmt.Sprintf("nodes[%s].status.allocatable.pods", node.Name)
		}},
		"a daemon's request": {wants: hasDaemons, spoil: func(rng *rand.Rand, p *scheduling.Problem) string {
			d := pick(rng, p.DaemonSets)
			d.Spec.Template.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: negative}
			return fmt.Sprintf("daemonsets[%s/%s].spec.template.spec.overhead.cpu", d.Namespace, d.Name)
		}},
		"a catalog for nobody": {wants: hasPods, spoil: func(_ *rand.Rand, p *scheduling.Problem) string {
			p.PoolCatalogs = map[string]*instancetypes.Catalog{"nobody": p.Catalog}
			return "poolCatalogs[nobody]"
		}},
		"a namespace without a name": {wants: hasPods, spoil: func(_ *rand.Rand, p *scheduling.Problem) string {
			p.Namespaces = append(p.Namespaces, &corev1.Namespace{})
			return fmt.Sprintf("namespaces[%d].metadata.name", len(p.Namespaces)-1)
		}},
		"a default spread without a skew": {wants: hasPods, spoil: func(_ *rand.Rand, p *scheduling.Problem) string {
			p.DefaultSpread = []corev1.TopologySpreadConstraint{{TopologyKey: "a", WhenUnsatisfiable: corev1.DoNotSchedule}}
			return "defaultSpread[0].maxSkew"
		}},
		"a scheduler profile": {wants: hasPods, spoil: func(_ *rand.Rand, p *scheduling.Problem) string {
			p.Scheduler.Scoring.Type = "Other"
			return "scheduler.scoring.type"
		}},
		"weight": inPool("spec.weight", func(p *scheduling.NodePool) { w := int32(101); p.Spec.Weight = &w }),
		"limits": inPool("spec.limits.cpu", func(p *scheduling.NodePool) { p.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: negative} }),
		"budget": inPool("spec.disruption.budgets[0].nodes", func(p *scheduling.NodePool) { p.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: "many"}} }),
		"policy": inPool("spec.disruption.consolidationPolicy", func(p *scheduling.NodePool) { p.Spec.Disruption.ConsolidationPolicy = "Sometimes" }),
		"taint": inPool("spec.template.spec.taints[0].effect", func(p *scheduling.NodePool) {
			p.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "example.com/only", Effect: "Perhaps"}}
		}),
		"label": inPool("spec.template.metadata.labels[karpenter.sh/nodepool]", func(p *scheduling.NodePool) {
			p.Spec.Template.Metadata.Labels = map[string]string{scheduling.NodePoolLabel: p.Name}
		}),
		"requirement": inPool("spec.template.spec.requirements[0].values", func(p *scheduling.NodePool) {
			p.Spec.Template.Spec.Requirements = []requirements.Selector{{Key: "a", Operator: requirements.In}}
		}),
	}
}

// One thing that is spoiled in a valid problem is found, alone, where it is; and
// Plan and NewSession refuse the problem with the same error.
func TestValidateFindsWhatWasSpoiled(t *testing.T) {
	for name, b := range breakages() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(21, 11))
			found := 0
			for seed := range uint64(40) {
				p := schedulingtest.Random(seed, schedulingtest.Size{Pods: 10})
				require.NoError(t, provisioning.Validate(&p))
				if !b.wants(&p) {
					continue
				}
				path := b.spoil(rng, &p)
				err := provisioning.Validate(&p)
				require.ErrorIs(t, err, scheduling.ErrInvalid)
				var faults *scheduling.FieldErrors
				require.ErrorAs(t, err, &faults)
				require.Len(t, faults.Errors, 1, "%v", err)
				assert.Equal(t, path, faults.Errors[0].Path)
				found++
				if found == 1 {
					plan, solveErr := provisioning.Planner{}.Plan(t.Context(), p)
					assert.Nil(t, plan)
					assert.Equal(t, err, solveErr)
					session, sessionErr := provisioning.NewSession(scheduling.Policy{}, p)
					assert.Nil(t, session)
					assert.Equal(t, err, sessionErr)
				}
			}
			assert.Greater(t, found, 5)
		})
	}
}

// Everything that is spoiled is reported at once.
func TestValidateFindsEverything(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 12))
	for seed := range uint64(20) {
		p := schedulingtest.Random(seed, schedulingtest.Size{})
		want := map[string]bool{}
		for _, name := range []string{"negative overhead", "a catalog for nobody", "a node with a debt", "a daemon's request", "weight", "budget"} {
			if b := breakages()[name]; b.wants(&p) {
				want[b.spoil(rng, &p)] = true
			}
		}
		var faults *scheduling.FieldErrors
		require.ErrorAs(t, provisioning.Validate(&p), &faults)
		got := map[string]bool{}
		for _, f := range faults.Errors {
			got[f.Path] = true
		}
		assert.Equal(t, want, got)
	}
}
