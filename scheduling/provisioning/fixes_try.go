package provisioning

import (
	"cmp"
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/explain"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/volumes"
)

const (
	// mostFixes bounds the changes that are listed for a pod, each of which places it, and mostTried the changes that
	// are tried to find them.
	mostFixes = 4
	mostTried = 8
	// mostCombined bounds the insufficient changes that are tried together with changes for the remaining reasons, and
	// mostTogether the changes in one such trial.
	mostCombined = 2
	mostTogether = 5
	// trialsPerPod bounds the trials for one pod and the pods equal to it, trialsPerPlan the trials for all pods.
	trialsPerPod  = 200
	trialsPerPlan = 2_000
)

// tryFixes reduces the changes that a plan proposes to the ones that place the pod, once the plan has been carried out.
// Where none does, it proposes several together. A change that cannot be tried, because the deadline has passed or the
// plan cannot be carried out, is not proposed.
func tryFixes(ctx context.Context, f *instance.Facts, plan *scheduling.Plan) error {
	if f.Terse || f.Solver.NoReasons || len(plan.Unschedulable) == 0 {
		return nil
	}
	after, err := carriedOut(f, plan, false)
	if err != nil {
		for i := range plan.Unschedulable {
			explain.Propose(&plan.Unschedulable[i], nil)
		}
		return nil // a launch is not on sale, so the plan cannot be carried out
	}
	after.ignorePreferences()
	place := make(map[string]int, len(f.Problem.Pods))
	for i, pod := range f.Problem.Pods {
		place[podspec.PodName(pod)] = i
	}
	type refusal struct {
		spec    int32
		message string
	}
	known := map[refusal]*scheduling.Unschedulable{}
	alike := map[refusal][]*corev1.Pod{}
	for at := range plan.Unschedulable {
		if i, ok := place[plan.Unschedulable[at].Pod]; ok {
			key := refusal{f.Readings.Of[i], plan.Unschedulable[at].Message}
			alike[key] = append(alike[key], f.Problem.Pods[i])
		}
	}
	trials := trialsPerPlan
	for at := range plan.Unschedulable { // in order of name, so that the input's does not matter
		u := &plan.Unschedulable[at]
		i, ok := place[u.Pod]
		if !ok {
			continue
		}
		pod := f.Problem.Pods[i]
		key := refusal{f.Readings.Of[i], u.Message} // as it was before changes were tried
		if same := known[key]; same != nil {
			explain.Propose(u, explain.CopyChanges(same.Changes))
			continue
		}
		if n := key.spec; n >= 0 && !f.Readings.PodSpecKeys[n].Single {
			known[key] = u
		}
		if err := cancelled(ctx); err != nil {
			return err
		}
		if late(ctx) {
			trials = 0
		}
		t := &fixTrial{session: after, pod: pod, left: min(trials, trialsPerPod)}
		before := t.left
		fixes := t.remedies(context.WithoutCancel(ctx), u.Changes)
		if n := key.spec; n >= 0 && !f.Readings.PodSpecKeys[n].Single && len(pod.Spec.Volumes) == 0 {
			for k := range fixes {
				t.forAll(context.WithoutCancel(ctx), &fixes[k], alike[key][1:])
			}
		}
		trials -= before - t.left
		explain.Propose(u, fixes)
	}
	return nil
}

// fixTrial is a pod without a place, and the cluster after the plan, with changes made.
type fixTrial struct {
	session *Session // without the pod
	pod     *corev1.Pod
	// affinePods have to be placed with the pod.
	affinePods []*corev1.Pod
	left       int // how many more things may be tried
}

// remedies returns the candidates that place the pod, or combinations of them that do.
func (t *fixTrial) remedies(ctx context.Context, candidates []scheduling.Change) []scheduling.Change {
	if t.left == 0 {
		return nil
	}
	t.left--
	if t.placed(ctx) {
		return []scheduling.Change{{Kind: scheduling.ChangeEffort, Text: "plan again once this plan has been carried out: then there is a place"}}
	}
	return t.fixes(ctx, candidates, mostTogether)
}

// fixes returns a few of the candidates that place the pod. Where there are none, it returns the first that places it
// together with at most so many other changes, if there is any.
func (t *fixTrial) fixes(ctx context.Context, candidates []scheduling.Change, together int) []scheduling.Change {
	tried := sets.New[string]()
	var out, failed []scheduling.Change
	try := func(candidates []scheduling.Change, most int) {
		for _, c := range candidates {
			if len(out) == mostFixes || len(out)+len(failed) == most || t.left <= 0 {
				return
			}
			if tried.Has(c.Text) || t.with(&c) == nil {
				continue
			}
			tried.Insert(c.Text)
			t.left--
			if t.holds(ctx, &c) {
				if c = t.leastOf(ctx, c); !slices.ContainsFunc(out, func(o scheduling.Change) bool { return o.Text == c.Text }) {
					out = append(out, c)
				}
			} else {
				failed = append(failed, c)
			}
		}
	}
	try(candidates, mostTried)
	if len(out) == 0 && together == mostTogether {
		try(t.candidates(ctx), 2*mostTried)
	}
	if len(out) > 0 || together == 1 {
		return out
	}
	// Combinations of several changes are nearest to a place.
	slices.SortStableFunc(failed, func(a, b scheduling.Change) int { return cmp.Compare(len(b.And), len(a.And)) })
	for _, c := range failed[:min(len(failed), mostCombined)] {
		next := t.with(&c)
		next.left = t.left
		more := next.fixes(ctx, next.candidates(ctx), together-1)
		t.left = next.left
		if len(more) > 0 {
			c.Text += ", and " + more[0].Text
			c.And = append(slices.Clone(c.And), more[0])
			return []scheduling.Change{t.leastOf(ctx, c)}
		}
	}
	return nil
}

// holds reports whether a change places the pod. Where a change lists alternative values it keeps the values that place
// the pod.
func (t *fixTrial) holds(ctx context.Context, c *scheduling.Change) bool {
	if len(c.Values) < 2 {
		return t.with(c).placed(ctx)
	}
	var values []string
	for _, value := range c.Values {
		one := *c
		one.Values = []string{value}
		if t.holds(ctx, &one) {
			values = append(values, value)
		}
	}
	if len(values) == 0 {
		return false
	}
	c.Text = strings.Replace(c.Text, strings.Join(c.Values, ", "), strings.Join(values, ", "), 1)
	c.Values = values
	return true
}

// waits makes the pod pending, and the pods that its affinity selects. The error says that the pod is not valid, or
// cannot be placed whatever its constraints are.
func (t *fixTrial) waits() (*Session, error) {
	x := t.session.Fork()
	x.solver.Effort = scheduling.EffortFast
	err := x.Apply(scheduling.Delta{Pods: append(slices.Clone(t.affinePods), t.pod)})
	return x, err
}

// placed reports whether the pod finds a place.
func (t *fixTrial) placed(ctx context.Context) bool {
	x, err := t.waits()
	if err != nil {
		return false
	}
	plan, err := x.Place(ctx, scheduling.EffortFast)
	return err == nil && withPlace(plan) == 1+len(t.affinePods)
}

// withPlace is the number of pods with a place, virtual ones included.
func withPlace(plan *scheduling.Plan) (n int) {
	for range plan.Placements() {
		n++
	}
	return n
}

// candidates are changes that might place the pod.
func (t *fixTrial) candidates(ctx context.Context) []scheduling.Change {
	x, err := t.waits()
	if err != nil {
		return nil
	}
	facts, err := x.facts()
	if err != nil {
		return nil
	}
	facts.Together = true
	plan, err := settled(ctx, facts)
	if err != nil {
		return nil
	}
	at, ok := volumes.Left(plan)[podspec.PodName(t.pod)]
	if !ok {
		return nil
	}
	return slices.DeleteFunc(plan.Unschedulable[at].Changes, func(c scheduling.Change) bool {
		return strings.HasPrefix(c.Object, "Node/"+boughtPrefix) // nobody has seen it yet
	})
}

// with is the trial with a change made; nil where it cannot be made.
func (t *fixTrial) with(c *scheduling.Change) *fixTrial {
	x := t.session.Fork()
	made := &explain.Trial{
		Pod: t.pod.DeepCopy(), AffinePods: t.affinePods, Problem: &x.problem, Policy: &x.solver, Update: x.Apply,
		Running: func(yield func(*corev1.Pod, string) bool) { x.running.All()(yield) },
		PolicyChanged: func() { // the memory is valid for one policy only
			x.memory = instance.NewMemory()
			x.waiting = newWaiting(&x.solver, &x.problem, nil)
		},
	}
	if !made.Apply(c) {
		return nil
	}
	return &fixTrial{session: x, pod: made.Pod, affinePods: made.AffinePods}
}
