package oracle

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// How often Run looks, and for how long nothing must have happened for it to believe
// that nothing will: longer than a refused pod waits before it is tried again.
const (
	runPoll   = 20 * time.Millisecond
	runSettle = 2 * time.Second
)

// Outcome is where a scheduler put the pods of a cluster.
type Outcome struct {
	// Bound is the node of each pod that got one. Pods are namespace/name.
	Bound map[string]string
	// Refused is what the scheduler said about each of the others.
	Refused map[string]string
}

// Run lets a whole kube-scheduler, with its default plugins and the given ones, loose on
// a cluster in a fake API server that holds the further objects, too. It creates the
// planned pods, and once they have settled the pods that the plan gives up on, which
// may evict no one. It returns when every pod has a node, or nothing happens any more.
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
	profiles, err := profilesWith(spread)
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
