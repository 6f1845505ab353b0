package oracle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Config sets the number of samples. The zero value checks first options only.
type Config struct {
	// Samples is the number of times that the plan is carried out with other options than the
	// first, drawn at random.
	Samples int
	// Seed is the seed of the draw.
	Seed uint64
}

// Check asks a scheduler about every pod of a plan: placed pods with each launch's first
// option and with samples of the other options, and unscheduled pods. It returns the
// decisions in which the scheduler differs, nil if there are none. The scheduler
// is emptied first. Problem and plan are not changed. An error means that the plan
// cannot be carried out at all, for example because it names an unknown pod.
func Check(ctx context.Context, s *Scheduler, p *scheduling.Problem, plan *scheduling.Plan, c Config) ([]Disagreement, error) {
	r := &replay{world: newWorld(p), scheduler: s, plan: plan}
	if err := r.run(ctx, nil); err != nil {
		return nil, err
	}
	if err := r.refusals(ctx); err != nil {
		return nil, err
	}
	dice := rand.New(rand.NewPCG(c.Seed, 0)) //nolint:gosec // a sample, not a secret
	for range c.Samples {
		choice, other := sample(dice, plan, r.dependent())
		if !other {
			break
		}
		if err := r.run(ctx, choice); err != nil {
			return nil, err
		}
	}
	return r.found, nil
}

// sample draws an option for every launch. other is false if there is nothing to draw
// from. If pods depend on one another, only one launch gets an option other than its
// first: a plan promises that any launch may fall back, not that all may at once.
func sample(dice *rand.Rand, plan *scheduling.Plan, one bool) (choice []int, other bool) {
	choice = make([]int, len(plan.Launches))
	var open []int
	for i := range plan.Launches {
		if len(plan.Launches[i].Options) > 1 {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return choice, false
	}
	if one {
		open = []int{open[dice.IntN(len(open))]}
	}
	for _, i := range open {
		choice[i] = 1 + dice.IntN(len(plan.Launches[i].Options)-1)
	}
	return choice, true
}

// dependent reports whether any pod's place depends on where other pods are, or on
// objects other than nodes.
func (w *world) dependent() bool {
	for _, pod := range w.pending {
		a := pod.Spec.Affinity
		if len(pod.Spec.TopologySpreadConstraints) > 0 || len(pod.Spec.Volumes) > 0 ||
			a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
			return true
		}
	}
	for _, pod := range w.running {
		if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
			return true
		}
	}
	return false
}

// Kind is a way in which kube-scheduler's decision differs from the plan's.
type Kind string

// The kinds of disagreement.
const (
	// Refused is a pod that the plan places and kube-scheduler does not.
	Refused Kind = "refused"
	// Overlooked is a pod that the plan gives up on and kube-scheduler would place.
	Overlooked Kind = "overlooked"
)

// Disagreement is one pod and one node on which plan and kube-scheduler differ.
type Disagreement struct {
	Kind Kind
	// Pod is namespace/name.
	Pod string
	// Node is the name of the node, Machine the offering as which it is or would be bought;
	// "" for nodes of the problem.
	Node, Machine string
	// Plugin is the filter that refuses the pod, Reason its message. Both are empty
	// for pods that were overlooked.
	Plugin, Reason string
}

func (d Disagreement) String() string {
	node := "node " + d.Node
	if d.Machine != "" {
		node += " (" + d.Machine + ")"
	}
	if d.Kind == Overlooked {
		return fmt.Sprintf("pod %s is unschedulable to the plan, but kube-scheduler admits it to %s", d.Pod, node)
	}
	return fmt.Sprintf("pod %s is planned onto %s, but kube-scheduler refuses it: %s: %s", d.Pod, node, d.Plugin, d.Reason)
}

func refused(p Placement, machine string, r *Refusal) Disagreement {
	return Disagreement{Kind: Refused, Pod: scheduling.PodName(p.Pod), Node: p.Node, Machine: machine, Plugin: r.Plugin, Reason: r.Reason}
}

func overlooked(pod *corev1.Pod, node *Node) Disagreement {
	return Disagreement{Kind: Overlooked, Pod: scheduling.PodName(pod), Node: node.Name, Machine: node.Machine}
}

// How often Run looks, and the time without a change after which Run takes the pods'
// nodes as final. It must be longer than the backoff of a refused pod.
const (
	runPoll   = 20 * time.Millisecond
	runSettle = 2 * time.Second
)

// Outcome is where a scheduler put the pods of a cluster.
type Outcome struct {
	// Bound is the node of each pod that got one. Pods are namespace/name.
	Bound map[string]string
	// Refused holds the scheduler's message for each pod without a node.
	Refused map[string]string
}

// Run runs a whole kube-scheduler, with its default plugins and the given ones, on
// a cluster in a fake API server that also holds the further objects. It creates the
// planned pods, and once they have settled the pods that the plan gives up on, which
// must not preempt. It returns when every pod has a node, or no pod has changed for a while.
func Run(ctx context.Context, c *Cluster, plugins frameworkruntime.Registry, objects ...runtime.Object) (*Outcome, error) {
	ctx, cancel := context.WithCancel(quiet(ctx))
	defer cancel()
	api := newFakeAPI(objects)
	if err := api.addNodes(ctx, c, false); err != nil {
		return nil, err
	}
	if err := startWhole(ctx, api.client, plugins, c.DefaultSpread); err != nil {
		return nil, err
	}
	pods := make([]*corev1.Pod, 0, len(c.Placements))
	for _, p := range c.Placements {
		pods = append(pods, p.Pod)
	}
	if err := api.createAll(ctx, pods); err != nil {
		return nil, err
	}
	if err := errors.Join(api.answered(ctx, pods), api.addNodes(ctx, c, true), api.settled(ctx, pods)); err != nil {
		return nil, err
	}
	left := make([]*corev1.Pod, 0, len(c.Left))
	for _, pod := range c.Left {
		never := corev1.PreemptNever
		pod = pod.DeepCopy()
		pod.Spec.PreemptionPolicy = &never
		left = append(left, pod)
	}
	if err := errors.Join(api.createAll(ctx, left), api.settled(ctx, left)); err != nil {
		return nil, err
	}
	return api.outcome(ctx, append(pods, left...))
}

// startWhole starts a scheduler that works by itself until the context ends.
func startWhole(ctx context.Context, client *fake.Clientset, plugins frameworkruntime.Registry, spread []corev1.TopologySpreadConstraint) error {
	profiles, err := profilesWith(spread, scheduling.SchedulerProfile{})
	if err != nil {
		return err
	}
	enabled := &profiles[0].Plugins.MultiPoint.Enabled
	for name := range plugins {
		*enabled = append(*enabled, config.Plugin{Name: name})
	}
	informers := kubescheduler.NewInformerFactory(client, 0)
	s, err := kubescheduler.New(ctx, client, informers, nil, silentRecorder,
		kubescheduler.WithProfiles(profiles...),
		kubescheduler.WithFrameworkOutOfTreeRegistry(plugins))
	if err != nil {
		return fmt.Errorf("starting kube-scheduler: %w", err)
	}
	informers.Start(ctx.Done())
	informers.WaitForCacheSync(ctx.Done())
	if err := s.WaitForHandlersSync(ctx); err != nil {
		return fmt.Errorf("starting kube-scheduler: %w", err)
	}
	go s.Run(ctx)
	return nil
}
