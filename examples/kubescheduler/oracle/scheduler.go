package oracle

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Scheduler is a kube-scheduler with its default plugins that schedules no pod on its own:
// callers put nodes and pods into its cache and run its filters. It must not be used
// concurrently.
type Scheduler struct {
	scheduler *kubescheduler.Scheduler
	framework framework.Framework
	snapshot  *cache.Snapshot
	nominated *nominator
	logger    klog.Logger
	nodes     map[string]*corev1.Node
	pods      map[string]*corev1.Pod // by namespace/name
}

// Refusal is why kube-scheduler does not put a pod onto a node.
type Refusal struct {
	// Plugin is the filter that refuses the pod, e.g. "NodeResourcesFit".
	Plugin string
	// Reason is the filter's message.
	Reason string
	// Failed says that the filter broke down instead of objecting, for example for
	// want of a storage class. The pod stays pending all the same.
	Failed bool
}

// NewScheduler starts a scheduler. Its fake API server holds the objects, e.g. persistent
// volumes and their claims, storage classes and namespaces; they must not include nodes
// and pods. The scheduler ends with the context.
func NewScheduler(ctx context.Context, objects ...runtime.Object) (*Scheduler, error) {
	return newScheduler(ctx, &scheduling.Problem{}, objects)
}

// newScheduler starts a scheduler that is configured as the problem says.
func newScheduler(ctx context.Context, p *scheduling.Problem, objects []runtime.Object) (*Scheduler, error) {
	ctx = quiet(ctx)
	profiles, err := profilesWith(p.DefaultSpread, p.Scheduler)
	if err != nil {
		return nil, err
	}
	client := fake.NewClientset(objects...)
	informers := kubescheduler.NewInformerFactory(client, 0)
	// One worker looks at nodes in order, because the scheduler's decisions must be repeatable.
	s, err := kubescheduler.New(ctx, client, informers, nil, silentRecorder,
		kubescheduler.WithProfiles(profiles...), kubescheduler.WithParallelism(1))
	if err != nil {
		return nil, fmt.Errorf("starting kube-scheduler: %w", err)
	}
	informers.Start(ctx.Done())
	informers.WaitForCacheSync(ctx.Done())
	if err := s.WaitForHandlersSync(ctx); err != nil {
		return nil, fmt.Errorf("starting kube-scheduler: %w", err)
	}
	fw := s.Profiles[corev1.DefaultSchedulerName]
	snapshot, ok := fw.SnapshotSharedLister().(*cache.Snapshot)
	if !ok {
		return nil, fmt.Errorf("the framework reads nodes from a %T", fw.SnapshotSharedLister())
	}
	out := &Scheduler{
		scheduler: s, framework: fw, snapshot: snapshot, logger: klog.FromContext(ctx),
		nominated: newNominator(), nodes: map[string]*corev1.Node{}, pods: map[string]*corev1.Pod{},
	}
	fw.SetPodNominator(out.nominated)
	if err := out.waitForVolumes(ctx, objects); err != nil {
		return nil, err
	}
	return out, nil
}

// quiet returns a context that discards kube-scheduler's logs.
func quiet(ctx context.Context) context.Context { return klog.NewContext(ctx, logr.Discard()) }

func silentRecorder(string) events.EventRecorderLogger { return &events.FakeRecorder{} }

// Reset takes all nodes and pods away.
func (s *Scheduler) Reset() error {
	var faults []error
	for _, pod := range s.pods {
		faults = append(faults, s.scheduler.Cache.RemovePod(s.logger, pod))
	}
	for _, node := range s.nodes {
		faults = append(faults, s.scheduler.Cache.RemoveNode(s.logger, node))
	}
	for _, pod := range s.nominated.of {
		s.nominated.DeleteNominatedPodIfExists(pod)
	}
	clear(s.pods)
	clear(s.nodes)
	return errors.Join(faults...)
}

// AddNode adds a node.
func (s *Scheduler) AddNode(node *corev1.Node) error {
	if _, taken := s.nodes[node.Name]; taken {
		return fmt.Errorf("node %s is there already", node.Name)
	}
	s.scheduler.Cache.AddNode(s.logger, node)
	s.nodes[node.Name] = node
	return nil
}

// UpdateNode replaces a node by another of its name.
func (s *Scheduler) UpdateNode(node *corev1.Node) error {
	old, ok := s.nodes[node.Name]
	if !ok {
		return fmt.Errorf("node %s is not there", node.Name)
	}
	s.scheduler.Cache.UpdateNode(s.logger, old, node)
	s.nodes[node.Name] = node
	return nil
}

// RemoveNode takes a node away, and the pods on it.
func (s *Scheduler) RemoveNode(name string) error {
	node, ok := s.nodes[name]
	if !ok {
		return fmt.Errorf("node %s is not there", name)
	}
	var faults []error
	for _, pod := range s.pods {
		if pod.Spec.NodeName == name {
			faults = append(faults, s.Unbind(pod))
		}
	}
	delete(s.nodes, name)
	return errors.Join(append(faults, s.scheduler.Cache.RemoveNode(s.logger, node))...)
}

// Bind puts a pod onto a node without asking anyone.
func (s *Scheduler) Bind(pod *corev1.Pod, node string) error {
	if _, taken := s.pods[scheduling.PodName(pod)]; taken {
		return fmt.Errorf("pod %s has a node already", scheduling.PodName(pod))
	}
	if _, ok := s.nodes[node]; !ok {
		return fmt.Errorf("pod %s cannot be bound to node %s, which is not there", scheduling.PodName(pod), node)
	}
	bound := pod.DeepCopy()
	bound.Spec.NodeName = node
	if err := s.scheduler.Cache.AddPod(s.logger, bound); err != nil {
		return fmt.Errorf("binding pod %s: %w", scheduling.PodName(pod), err)
	}
	s.pods[scheduling.PodName(bound)] = bound
	s.nominated.DeleteNominatedPodIfExists(bound)
	return nil
}

// Unbind takes a pod away.
func (s *Scheduler) Unbind(pod *corev1.Pod) error {
	bound, ok := s.pods[scheduling.PodName(pod)]
	if !ok {
		return fmt.Errorf("pod %s has no node", scheduling.PodName(pod))
	}
	delete(s.pods, scheduling.PodName(pod))
	return s.scheduler.Cache.RemovePod(s.logger, bound)
}

// Admit runs all default filters for a pod on a node as things stand. It returns nil
// if the pod may go there. An error means that the question could not be asked.
func (s *Scheduler) Admit(ctx context.Context, pod *corev1.Pod, node string) (*Refusal, error) {
	ctx = klog.NewContext(ctx, s.logger)
	if err := s.scheduler.Cache.UpdateSnapshot(s.logger, s.snapshot); err != nil {
		return nil, fmt.Errorf("taking a snapshot: %w", err)
	}
	info, err := s.snapshot.NodeInfos().Get(node)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", node, err)
	}
	state := framework.NewCycleState()
	result, status, _ := s.framework.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() {
		return newRefusal(status), nil
	}
	if !result.AllNodes() && !result.NodeNames.Has(node) {
		return &Refusal{Plugin: "PreFilter", Reason: "the pod names other nodes"}, nil
	}
	return newRefusal(s.framework.RunFilterPlugins(ctx, state, pod, info)), nil
}

// newRefusal is nil for a pod that passed.
func newRefusal(status *fwk.Status) *Refusal {
	if status.IsSuccess() {
		return nil
	}
	return &Refusal{Plugin: status.Plugin(), Reason: status.Message(), Failed: !status.IsRejected()}
}

func namespaceOf(name string) string {
	if name == "" {
		return corev1.NamespaceDefault
	}
	return name
}
