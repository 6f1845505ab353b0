package oracle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// fakeAPI is an API server in memory that knows what a binding is, and makes volumes.
type fakeAPI struct {
	client *fake.Clientset
}

func newFakeAPI(objects []runtime.Object) *fakeAPI {
	a := &fakeAPI{client: fake.NewClientset(objects...)}
	a.client.PrependReactor("create", "pods", a.bind)
	a.client.PrependReactor("update", "persistentvolumeclaims", a.provision)
	a.client.PrependReactor("update", "persistentvolumes", a.complete)
	return a
}

// bind does what the API server does when a scheduler binds a pod.
func (a *fakeAPI) bind(action clienttesting.Action) (handled bool, result runtime.Object, err error) {
	create, ok := action.(clienttesting.CreateAction)
	if !ok || action.GetSubresource() != "binding" {
		return false, nil, nil
	}
	binding, ok := create.GetObject().(*corev1.Binding)
	if !ok {
		return true, nil, fmt.Errorf("expected a binding, got %T", create.GetObject())
	}
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	object, err := a.client.Tracker().Get(pods, binding.Namespace, binding.Name)
	if err != nil {
		return true, nil, err
	}
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return true, nil, fmt.Errorf("expected a pod, got %T", object)
	}
	pod = pod.DeepCopy()
	pod.Spec.NodeName = binding.Target.Name
	return true, binding, a.client.Tracker().Update(pods, pod, pod.Namespace)
}

// addNodes creates the nodes of a cluster that are late, or those that are not, with
// what runs on them.
func (a *fakeAPI) addNodes(ctx context.Context, c *Cluster, late bool) error {
	var faults []error
	for i := range c.Nodes {
		node := &c.Nodes[i]
		if node.Late != late {
			continue
		}
		_, err := a.client.CoreV1().Nodes().Create(ctx, node.Node, metav1.CreateOptions{})
		faults = append(faults, err, a.createAll(ctx, slices.Concat(node.Running, node.Daemons)))
	}
	return errors.Join(faults...)
}

func (a *fakeAPI) createAll(ctx context.Context, pods []*corev1.Pod) error {
	var faults []error
	for _, pod := range pods {
		_, err := a.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// answered waits until the scheduler has tried every pod.
func (a *fakeAPI) answered(ctx context.Context, pods []*corev1.Pod) error {
	return wait.PollUntilContextCancel(ctx, runPoll, true, func(ctx context.Context) (bool, error) {
		o, err := a.outcome(ctx, pods)
		return err == nil && len(o.Bound)+len(o.Refused) == len(pods), err
	})
}

// settled waits until all pods have a node, or all have been tried and nothing has
// changed for a while.
func (a *fakeAPI) settled(ctx context.Context, pods []*corev1.Pod) error {
	if err := a.answered(ctx, pods); err != nil {
		return err
	}
	bound, quiet := -1, time.Duration(0)
	return wait.PollUntilContextCancel(ctx, runPoll, true, func(ctx context.Context) (bool, error) {
		o, err := a.outcome(ctx, pods)
		if err != nil || len(o.Bound) == len(pods) {
			return err == nil, err
		}
		if quiet += runPoll; len(o.Bound) != bound {
			bound, quiet = len(o.Bound), 0
		}
		return quiet >= runSettle, nil
	})
}

// outcome reads what has become of the pods.
func (a *fakeAPI) outcome(ctx context.Context, pods []*corev1.Pod) (*Outcome, error) {
	o := &Outcome{Bound: map[string]string{}, Refused: map[string]string{}}
	list, err := a.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	asked := map[string]bool{}
	for _, pod := range pods {
		asked[podKey(pod)] = true
	}
	for i := range list.Items {
		pod := &list.Items[i]
		if name := podKey(pod); asked[name] {
			o.read(name, pod)
		}
	}
	return o, nil
}

// read notes what has become of one pod.
func (o *Outcome) read(name string, pod *corev1.Pod) {
	if pod.Spec.NodeName != "" {
		o.Bound[name] = pod.Spec.NodeName
		return
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			o.Refused[name] = c.Message
		}
	}
}
