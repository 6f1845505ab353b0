package scheduling_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// explained is how many random problems have their refusals and plans explained: 800, or 120
// under the race detector.
func explained() int { return race.Fewer(800, 120) }

// Every pod without a place has a reason and a change that would help, the same in
// words and for programs (P48), and everything of the plan can be explained.
func TestEverythingIsExplained(t *testing.T) {
	for seed := range uint64(explained()) {
		p := schedulingtest.Random(seed, schedulingtest.Size{Ties: seed%3 > 0})
		plan, err := scheduling.Solver{Effort: scheduling.EffortFast}.Solve(t.Context(), p)
		require.NoError(t, err)
		for _, u := range plan.Unschedulable {
			require.NotEmpty(t, u.Reasons, "seed %d, %s", seed, u.Pod)
			require.NotEmpty(t, u.Changes, "seed %d, %s: %s", seed, u.Pod, u.Message)
			require.Len(t, u.Fixes, len(u.Changes))
			for i, c := range u.Changes {
				require.NotEmpty(t, c.Kind)
				require.Equal(t, u.Fixes[i], c.Text)
			}
			for _, r := range u.Reasons {
				require.NotEmpty(t, r.Detail)
				require.Positive(t, r.Count)
			}
		}
		if seed%4 == 0 {
			explainAll(t, seed, p, plan)
		}
	}
}

// The order of the input does not show in what is explained.
func TestExplanationsAreRepeatable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(race.Fewer(100, 40)) {
		p := schedulingtest.Random(seed, schedulingtest.Size{Ties: true})
		shuffled := schedulingtest.Shuffle(p, seed)
		require.Equal(t, explanations(t, p), explanations(t, shuffled), "seed %d", seed)
	}
}

// explanations are those of all pods and nodes, and of some launches.
func explanations(t *testing.T, p scheduling.Problem) map[string]any {
	t.Helper()
	solver := scheduling.Solver{Effort: scheduling.EffortFast}
	plan, err := solver.Solve(t.Context(), p)
	require.NoError(t, err)
	x, err := solver.Explain(p, plan)
	require.NoError(t, err)
	out := map[string]any{}
	for _, pod := range p.Pods {
		out["pod "+full(pod)], err = x.Pod(full(pod))
		require.NoError(t, err)
	}
	for _, node := range p.Nodes {
		out["node "+node.Name], err = x.Node(node.Name)
		require.NoError(t, err)
	}
	for i := range plan.Launches {
		out["launch "+plan.Launches[i].Name], err = x.Launch(plan.Launches[i].Name)
		require.NoError(t, err)
	}
	return out
}

// explainAll asks about every launch, node and pod, and checks what adds up.
func explainAll(t *testing.T, seed uint64, p scheduling.Problem, plan *scheduling.Plan) {
	t.Helper()
	x, err := scheduling.Solver{Effort: scheduling.EffortFast}.Explain(p, plan)
	require.NoError(t, err)
	for i := range plan.Launches {
		l, err := x.Launch(plan.Launches[i].Name)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, plan.Launches[i].Options[0], l.Option)
		require.Len(t, l.Pods, len(plan.Launches[i].Pods))
		for _, r := range l.Rooms {
			require.Equal(t, r.Allocatable, r.Running+r.Daemons+r.Planned+r.Free, "seed %d, %s, %s", seed, l.Launch, r.Resource)
			require.GreaterOrEqual(t, r.Free, int64(0), "seed %d, %s, %s", seed, l.Launch, r.Resource)
		}
		for _, c := range l.Cheaper {
			require.Less(t, c.Price, l.Option.Price)
			require.NotEmpty(t, c.Reason.Code)
		}
		for _, o := range l.RunnersUp {
			require.NotEqual(t, l.Option.InstanceType, o.InstanceType)
		}
	}
	for _, n := range p.Nodes {
		e, err := x.Node(n.Name)
		require.NoError(t, err)
		for _, r := range e.Rooms {
			require.GreaterOrEqual(t, r.Free, int64(0), "seed %d, %s, %s", seed, n.Name, r.Resource)
		}
	}
	where := map[string]scheduling.PodStatus{}
	for _, l := range plan.Launches {
		for _, pod := range l.Pods {
			where[pod] = scheduling.PodLaunch
		}
	}
	for _, a := range plan.Existing {
		for _, pod := range a.Pods {
			where[pod] = scheduling.PodExisting
		}
	}
	for _, u := range plan.Unschedulable {
		where[u.Pod] = scheduling.PodUnschedulable
	}
	for pod, status := range where {
		e, err := x.Pod(pod)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, status, e.Status, "seed %d, %s", seed, pod)
	}
}

// What a change promises comes true: with it, and nothing else changed, a pod more is
// placed. Now and then it is not, where what is freed here is taken by others there,
// or where room, limits and ties depend on each other; that has to stay the exception.
func TestChangesHelp(t *testing.T) {
	t.Parallel()
	solver := scheduling.Solver{Effort: 100}
	tried, failed := map[scheduling.ChangeKind]int{}, map[scheduling.ChangeKind][]string{}
	for seed := range uint64(explained()) {
		p := schedulingtest.Random(seed, schedulingtest.Size{Ties: true, Pods: 20})
		plan, err := solver.Solve(t.Context(), p)
		require.NoError(t, err)
		asked := map[string]bool{}
		for _, u := range plan.Unschedulable {
			for _, c := range u.Changes {
				key := string(c.Kind) + c.Text
				if asked[key] || len(asked) > 6 {
					continue
				}
				asked[key] = true
				changed, ok := apply(t, p, plan, u.Pod, c)
				if !ok {
					continue
				}
				tried[c.Kind]++
				again, err := solver.Solve(t.Context(), changed)
				require.NoError(t, err, "seed %d, %s: %s", seed, u.Pod, c.Text)
				if again.Summary.Placed <= plan.Summary.Placed && unschedulable(again, u.Pod) {
					failed[c.Kind] = append(failed[c.Kind], fmt.Sprintf("seed %d, %s: %s; then %s", seed, u.Pod, c.Text, messageOf(again, u.Pod)))
				}
			}
		}
	}
	all, bad := 0, 0
	for kind, n := range tried {
		all, bad = all+n, bad+len(failed[kind])
		t.Logf("%s: %d of %d did not help", kind, len(failed[kind]), n)
		for _, f := range failed[kind] {
			t.Log(f)
		}
	}
	for _, kind := range []scheduling.ChangeKind{
		scheduling.ChangeRequest, scheduling.ChangeToleration, scheduling.ChangeSelector, scheduling.ChangeLimit, scheduling.ChangePodAffinity,
		scheduling.ChangeMaxSkew, scheduling.ChangeMinDomains, scheduling.ChangeScheduleAnyway,
	} {
		require.Positive(t, tried[kind], "%s is never proposed", kind)
	}
	require.LessOrEqual(t, float64(bad), 0.06*float64(all), "%d of %d changes did not help", bad, all)
}

func unschedulable(plan *scheduling.Plan, pod string) bool {
	return slices.ContainsFunc(plan.Unschedulable, func(u scheduling.Unschedulable) bool { return u.Pod == pod })
}

func messageOf(plan *scheduling.Plan, pod string) string {
	for _, u := range plan.Unschedulable {
		if u.Pod == pod {
			return u.Message
		}
	}
	return ""
}

// apply returns a problem in which a change has been made to a pod, where the change
// is one that can be made to the pod alone or to its node pool.
func apply(t *testing.T, p scheduling.Problem, plan *scheduling.Plan, name string, c scheduling.Change) (scheduling.Problem, bool) {
	t.Helper()
	p.Pods = slices.Clone(p.Pods)
	at := slices.IndexFunc(p.Pods, func(pod *corev1.Pod) bool { return full(pod) == name })
	pod := p.Pods[at].DeepCopy()
	p.Pods[at] = pod
	for i, x := range append([]scheduling.Change{c}, c.And...) {
		if i > 0 && x.Kind != scheduling.ChangeToleration && x.Kind != scheduling.ChangeLimit {
			return p, false
		}
		switch x.Kind {
		case scheduling.ChangeRequest:
			e, err := scheduling.Solver{}.Explain(p, plan)
			require.NoError(t, err)
			told, err := e.Pod(name)
			require.NoError(t, err)
			requests := told.Requests.DeepCopy()
			delete(requests, corev1.ResourcePods)
			requests[corev1.ResourceName(x.Key)] = resource.MustParse(x.To)
			only(pod, requests)
		case scheduling.ChangeToleration:
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: x.Key, Value: x.To, Effect: corev1.TaintEffect(x.Effect), Operator: corev1.TolerationOpEqual})
		case scheduling.ChangeMaxSkew, scheduling.ChangeMinDomains, scheduling.ChangeScheduleAnyway:
			if !relaxSpread(pod, x) {
				return p, false
			}
		case scheduling.ChangePodAffinity:
			a := pod.Spec.Affinity.PodAffinity
			a.RequiredDuringSchedulingIgnoredDuringExecution = slices.DeleteFunc(a.RequiredDuringSchedulingIgnoredDuringExecution, func(t corev1.PodAffinityTerm) bool { return t.TopologyKey == x.Key })
		case scheduling.ChangeSelector:
			if delete(pod.Spec.NodeSelector, x.Key); len(x.Values) > 0 {
				pod.Spec.NodeSelector[x.Key] = x.Values[0]
			}
		case scheduling.ChangeLimit:
			p.NodePools = raised(p.NodePools, x)
		default:
			return p, false
		}
	}
	return p, true
}

func full(pod *corev1.Pod) string {
	if pod.Namespace == "" {
		return "default/" + pod.Name
	}
	return pod.Namespace + "/" + pod.Name
}

// only makes a pod ask for exactly so much.
func only(pod *corev1.Pod, requests corev1.ResourceList) {
	var ports []corev1.ContainerPort
	for _, c := range append(pod.Spec.Containers, pod.Spec.InitContainers...) {
		ports = append(ports, c.Ports...)
	}
	pod.Spec.Containers = []corev1.Container{{Name: "c", Ports: ports, Resources: corev1.ResourceRequirements{Requests: requests}}}
	pod.Spec.InitContainers, pod.Spec.Resources, pod.Spec.Overhead = nil, nil, nil
}

// relaxSpread changes the pod's own spread constraints over a key.
func relaxSpread(pod *corev1.Pod, x scheduling.Change) bool {
	found := false
	for i := range pod.Spec.TopologySpreadConstraints {
		c := &pod.Spec.TopologySpreadConstraints[i]
		if c.TopologyKey != x.Key || c.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		n, _ := strconv.ParseInt(x.To, 10, 32)
		found = true
		switch x.Kind {
		case scheduling.ChangeMaxSkew:
			c.MaxSkew = max(c.MaxSkew, int32(n))
		case scheduling.ChangeMinDomains:
			c.MinDomains = nil
		default:
			c.WhenUnsatisfiable, c.MinDomains = corev1.ScheduleAnyway, nil
		}
	}
	return found
}

// raised returns node pools of which one has a higher limit.
func raised(pools []*scheduling.NodePool, x scheduling.Change) []*scheduling.NodePool {
	out := slices.Clone(pools)
	for i, pool := range out {
		if "NodePool/"+pool.Name == x.Object {
			out[i] = pool.DeepCopy()
			out[i].Spec.Limits[corev1.ResourceName(x.Key)] = resource.MustParse(x.To)
		}
	}
	return out
}
