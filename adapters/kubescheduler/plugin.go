package kubescheduler

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Options are what a program decides; [Args] are what its configuration says. The zero value works.
type Options struct {
	// Args are the values of the fields that the configuration lacks.
	Args Args
	// Source is where plans come from; nil is what the configuration says.
	Source Source
	// Register adds the plugin's metrics to a registry; nil is [legacyregistry.Register], whose metrics kube-scheduler
	// serves at /metrics.
	Register func(metrics.Registerable) error
	// PollEvery is the time between two looks at the plan file and at pending pods whose plan has changed; 0 is one
	// second.
	PollEvery time.Duration
	// Clock is the time; nil is [time.Now].
	Clock func() time.Time
}

// Plugin lets kube-scheduler follow a plan. Programs make it by [Factory].
type Plugin struct {
	handle fwk.Handle
	args   Args
	source Source
	bound  boundPods
	now    func() time.Time
	held   held
	// room is the sum of [Plugin.plannedRoom] at the last poll.
	room uint64
}

var (
	_ fwk.PreFilterPlugin   = (*Plugin)(nil)
	_ fwk.FilterPlugin      = (*Plugin)(nil)
	_ fwk.ScorePlugin       = (*Plugin)(nil)
	_ fwk.PostBindPlugin    = (*Plugin)(nil)
	_ fwk.EnqueueExtensions = (*Plugin)(nil)
	_ fwk.SignPlugin        = (*Plugin)(nil)
)

// Factory makes the plugin for a scheduler's registry. All profiles of the scheduler share its metrics. An error of the
// factory names fields of the arguments that are wrong. A plan file that is missing or malformed is no error: pods are
// scheduled as without the plugin until there is a plan.
func Factory(opts Options) frameworkruntime.PluginFactory {
	bound := newBoundPods()
	if opts.Register == nil {
		opts.Register = legacyregistry.Register
	}
	register := sync.OnceValue(func() error { return opts.Register(bound.counter) })
	if opts.Clock == nil {
		opts.Clock = time.Now //nolint:forbidigo // plans get old
	}
	every := cmp.Or(opts.PollEvery, time.Second)
	return func(ctx context.Context, object runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
		args, err := readArgs(opts.Args, object)
		if err != nil {
			return nil, err
		}
		if err := register(); err != nil {
			return nil, fmt.Errorf("%s: register metrics: %w", Name, err)
		}
		p := &Plugin{handle: h, args: args, source: opts.Source, bound: bound, now: opts.Clock}
		if args.Mode == Pinned && h != nil {
			if err := indexUnbound(h); err != nil {
				return nil, fmt.Errorf("%s: %w", Name, err)
			}
		}
		var file *planFile
		switch {
		case p.source != nil:
		case args.PlanFile != "":
			file = &planFile{path: args.PlanFile}
			p.source = file
		default:
			p.source = Annotations{}
		}
		p.poll(ctx, file)
		go p.pollEvery(ctx, every, file)
		return p, nil
	}
}

// Name returns [Name].
func (*Plugin) Name() string { return Name }

// stateKey is the key of decisions in a scheduling cycle.
const stateKey fwk.StateKey = Name

// decision is how one scheduling cycle treats a pod.
type decision struct {
	why cause
	// nodes are the planned node, or several where a launch was carried out twice.
	nodes map[string]fwk.NodeInfo
	// fits says whether one of them admits the pod.
	fits func() bool
	// closed is the room that the pod must not take.
	closed room
}

// Clone returns the decision itself: it holds for the whole cycle.
func (d *decision) Clone() fwk.StateData { return d }

// decide returns the decision for a pod, and the placement that it follows.
func (p *Plugin) decide(pod *corev1.Pod, nodes []fwk.NodeInfo) (*decision, Placement) {
	at, err := p.source.Placement(pod)
	if err != nil {
		return &decision{why: causeOf(err)}, at
	}
	if p.old(at) {
		return &decision{why: oldPlan}, at
	}
	d := &decision{nodes: map[string]fwk.NodeInfo{}}
	for _, info := range nodes {
		if node := info.Node(); node != nil && at.admits(node) {
			d.nodes[node.Name] = info
		}
	}
	if len(d.nodes) == 0 {
		d.why = nodeGone
	}
	return d, at
}

// old reports whether a plan is not followed any more.
func (p *Plugin) old(at Placement) bool {
	return !at.At.IsZero() && p.now().Sub(at.At) > p.args.MaxAge.Duration
}

// PreFilter decides how a pod is treated. With [Pinned] a planned pod is left its planned node alone, or waits for it, and other pods
// are kept from the room of planned ones.
func (p *Plugin) PreFilter(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	d, at := p.decide(pod, nodes)
	state.Write(stateKey, d)
	switch {
	case d.why == nodeGone && p.args.Mode == Pinned && at.Node == "":
		p.held.add(pod, at)
		// Unresolvable, because no eviction brings a node that has not joined.
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, at.name()+", which the plan chose, has not joined the cluster")
	case d.why != followed:
		klog.FromContext(ctx).V(4).Info("No plan to follow", "pod", klog.KObj(pod), "cause", d.why)
		if d.closed = p.closedTo(pod); len(d.closed) == 0 {
			return nil, fwk.NewStatus(fwk.Skip)
		}
		p.held.add(pod, Placement{})
		return nil, nil
	case p.args.Mode == Pinned:
		p.held.add(pod, at)
		return &fwk.PreFilterResult{NodeNames: sets.KeySet(d.nodes)}, nil
	case p.args.Mode == Nominated:
		whole := context.WithoutCancel(ctx) // kube-scheduler cancels the filters of other nodes once it has enough nodes
		d.fits = sync.OnceValue(func() bool {
			for _, info := range d.nodes {
				if p.handle.RunFilterPluginsWithNominatedPods(whole, state, pod, info).IsSuccess() {
					return true
				}
			}
			return false
		})
		return nil, nil
	}
	return nil, fwk.NewStatus(fwk.Skip)
}

// PreFilterExtensions returns nil: other pods do not change where a pod is planned.
func (*Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// Filter refuses the other nodes while the planned one admits the pod, with [Nominated]: the planned node is asked once in a
// cycle, by all other filters. With [Pinned] it refuses nodes to a pod without a plan where planned pods need the room.
func (*Plugin) Filter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) *fwk.Status {
	d := read(state)
	switch {
	case d == nil:
	case d.fits != nil && d.nodes[info.Node().Name] == nil && d.fits():
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "the pod is planned on another node, which admits it")
	case !d.closed.leaves(pod, info):
		return fwk.NewStatus(fwk.Unschedulable, "pending pods that are planned on the node need its room")
	}
	return nil
}

// Score is the highest for the planned node and zero for others.
func (*Plugin) Score(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) (int64, *fwk.Status) {
	if d := read(state); d != nil && d.nodes[info.Node().Name] != nil {
		return fwk.MaxScore, nil
	}
	return 0, nil
}

// ScoreExtensions returns nil: scores are normal.
func (*Plugin) ScoreExtensions() fwk.ScoreExtensions { return nil }

// PostBind counts where a pod was bound.
func (p *Plugin) PostBind(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node string) {
	p.held.remove(pod)
	d := read(state)
	if d == nil {
		return
	}
	why := d.why
	if why == followed && d.nodes[node] == nil {
		why = doesNotFit
		if p.args.Mode == Score {
			why = outscored
		}
	}
	p.bound.count(why)
	if why != followed && why != notPlanned {
		klog.FromContext(ctx).V(2).Info("Pod is not bound as planned", "pod", klog.KObj(pod), "node", node, "cause", why)
	}
}

// read returns the decision of a cycle, or nil.
func read(state fwk.CycleState) *decision {
	data, err := state.Read(stateKey)
	if err != nil {
		return nil
	}
	d, _ := data.(*decision)
	return d
}

// SignPod refuses to sign planned pods, because kube-scheduler reuses the nodes that it found for one pod for others of the same
// signature.
func (p *Plugin) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	if at, err := p.source.Placement(pod); err == nil && !p.old(at) {
		return nil, fwk.NewStatus(fwk.Unschedulable, "the pod is planned on a node of its own")
	}
	return nil, nil
}
