package oracle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Schedule runs a scheduling cycle for a pod as things stand: filters, scores, and the
// choice of a node, onto which the pod is then bound. If no node passes the filters it
// returns why; no pod is evicted to make room. Of nodes that score alike kube-scheduler
// takes the one that it looked at first, as a rule. Which that is depends on the order
// in which nodes came and on the cycles before. A pod with a nominated node
// ([Scheduler.Nominate]) goes there if the filters let it; if no node does, kube-scheduler
// takes its nomination away. An error means that the cycle could not be run.
func (s *Scheduler) Schedule(ctx context.Context, pod *corev1.Pod) (node string, refusal *Refusal, err error) {
	if _, taken := s.pods[scheduling.PodName(pod)]; taken {
		return "", nil, fmt.Errorf("pod %s has a node already", scheduling.PodName(pod))
	}
	ctx = klog.NewContext(ctx, s.logger)
	if err := s.scheduler.Cache.UpdateSnapshot(s.logger, s.snapshot); err != nil {
		return "", nil, fmt.Errorf("taking a snapshot: %w", err)
	}
	if nominated, ok := s.nominated.of[pod.UID]; ok {
		pod = nominated
	}
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return "", nil, fmt.Errorf("pod %s: %w", scheduling.PodName(pod), err)
	}
	result, err := s.scheduler.SchedulePod(ctx, s.framework, framework.NewCycleState(), &framework.QueuedPodInfo{PodInfo: info})
	var unfit *framework.FitError
	switch {
	case errors.Is(err, kubescheduler.ErrNoNodesAvailable):
		s.nominated.DeleteNominatedPodIfExists(pod)
		return "", &Refusal{Reason: err.Error()}, nil
	case errors.As(err, &unfit):
		if never := pod.Spec.PreemptionPolicy; never == nil || *never != corev1.PreemptNever {
			s.nominated.DeleteNominatedPodIfExists(pod) // as the plugin DefaultPreemption does
		}
		plugins := slices.Sorted(maps.Keys(unfit.Diagnosis.UnschedulablePlugins))
		return "", &Refusal{Plugin: strings.Join(plugins, ","), Reason: unfit.Error()}, nil
	case err != nil:
		return "", nil, fmt.Errorf("scheduling pod %s: %w", scheduling.PodName(pod), err)
	}
	return result.SuggestedHost, nil, s.Bind(pod, result.SuggestedHost)
}

// Choices returns the nodes from which a scheduling cycle would take one for a pod now: those with
// the highest score among all that pass the filters, sorted by name, and none if no node passes. It
// scores every node, even where kube-scheduler would score a sample. An error means that the cycle
// could not be run.
func (s *Scheduler) Choices(ctx context.Context, pod *corev1.Pod) ([]string, error) {
	ctx = klog.NewContext(ctx, s.logger)
	if err := s.scheduler.Cache.UpdateSnapshot(s.logger, s.snapshot); err != nil {
		return nil, fmt.Errorf("taking a snapshot: %w", err)
	}
	all, err := s.snapshot.NodeInfos().List()
	if err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	state := framework.NewCycleState()
	only, status, _ := s.framework.RunPreFilterPlugins(ctx, state, pod)
	if status.IsRejected() {
		return nil, nil
	}
	if !status.IsSuccess() {
		return nil, fmt.Errorf("scheduling pod %s: %w", scheduling.PodName(pod), status.AsError())
	}
	var feasible []fwk.NodeInfo
	for _, node := range all {
		if !only.AllNodes() && !only.NodeNames.Has(node.Node().Name) {
			continue
		}
		status := s.framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
		switch {
		case status.IsSuccess():
			feasible = append(feasible, node)
		case !status.IsRejected():
			return nil, fmt.Errorf("scheduling pod %s: %w", scheduling.PodName(pod), status.AsError())
		}
	}
	switch len(feasible) {
	case 0:
		return nil, nil
	case 1:
		return []string{feasible[0].Node().Name}, nil
	}
	if status := s.framework.RunPreScorePlugins(ctx, state, pod, feasible); !status.IsSuccess() {
		return nil, fmt.Errorf("scoring nodes for pod %s: %w", scheduling.PodName(pod), status.AsError())
	}
	scores, status := s.framework.RunScorePlugins(ctx, state, pod, feasible)
	if !status.IsSuccess() {
		return nil, fmt.Errorf("scoring nodes for pod %s: %w", scheduling.PodName(pod), status.AsError())
	}
	best := slices.MaxFunc(scores, func(a, b fwk.NodePluginScores) int { return cmp.Compare(a.TotalScore, b.TotalScore) }).TotalScore
	var out []string
	for i := range scores {
		if scores[i].TotalScore == best {
			out = append(out, scores[i].Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// Nominate sets a pod's status.nominatedNodeName, so that kube-scheduler keeps room for
// it there against pods of no higher priority, until it has a node or fits none.
func (s *Scheduler) Nominate(pod *corev1.Pod, node string) error {
	if _, taken := s.pods[scheduling.PodName(pod)]; taken {
		return fmt.Errorf("pod %s has a node already", scheduling.PodName(pod))
	}
	nominated := pod.DeepCopy()
	nominated.Status.NominatedNodeName = node
	info, err := framework.NewPodInfo(nominated)
	if err != nil {
		return fmt.Errorf("pod %s: %w", scheduling.PodName(pod), err)
	}
	s.nominated.AddNominatedPod(s.logger, info, nil)
	return nil
}
