package oracle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// fakeAPI is an API server in memory that handles bindings and provisions volumes.
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

// bind sets the pod's node when a scheduler creates a Binding, as the API server does.
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

// addNodes creates the nodes of a cluster whose Late is late, with their pods.
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

// settled waits until all pods have a node, or all have been tried and none has
// changed for runSettle.
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

// outcome reads the node or the refusal of each pod.
func (a *fakeAPI) outcome(ctx context.Context, pods []*corev1.Pod) (*Outcome, error) {
	o := &Outcome{Bound: map[string]string{}, Refused: map[string]string{}}
	list, err := a.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	asked := map[string]bool{}
	for _, pod := range pods {
		asked[scheduling.PodName(pod)] = true
	}
	for i := range list.Items {
		pod := &list.Items[i]
		if name := scheduling.PodName(pod); asked[name] {
			o.read(name, pod)
		}
	}
	return o, nil
}

// read records the node of one pod, or the scheduler's message.
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

// The resources that stand-ins for the volume controller and for CSI drivers handle.
var (
	claimsResource  = corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims")
	volumesResource = corev1.SchemeGroupVersion.WithResource("persistentvolumes")
	nodesResource   = corev1.SchemeGroupVersion.WithResource("nodes")
	classesResource = storagev1.SchemeGroupVersion.WithResource("storageclasses")
)

// provision acts as a CSI driver once kube-scheduler has chosen a node for a claim: the
// claim is bound to a new volume in the zone of the node.
func (a *fakeAPI) provision(action clienttesting.Action) (handled bool, result runtime.Object, err error) {
	update, ok := action.(clienttesting.UpdateAction)
	if !ok {
		return false, nil, nil
	}
	claim, ok := update.GetObject().(*corev1.PersistentVolumeClaim)
	if !ok || claim.Spec.VolumeName != "" || claim.Annotations[volumehelpers.AnnSelectedNode] == "" {
		return false, nil, nil
	}
	volume, err := a.newVolume(claim)
	if err != nil {
		return true, nil, err
	}
	if err := a.client.Tracker().Create(volumesResource, volume, ""); err != nil {
		return true, nil, err
	}
	bound := boundTo(claim, volume.Name)
	return true, bound, a.client.Tracker().Update(claimsResource, bound, bound.Namespace)
}

// newVolume is the volume that a driver makes for a claim.
func (a *fakeAPI) newVolume(claim *corev1.PersistentVolumeClaim) (*corev1.PersistentVolume, error) {
	object, err := a.client.Tracker().Get(nodesResource, "", claim.Annotations[volumehelpers.AnnSelectedNode])
	if err != nil {
		return nil, err
	}
	node, ok := object.(*corev1.Node)
	if !ok {
		return nil, fmt.Errorf("expected a node, got %T", object)
	}
	object, err = a.client.Tracker().Get(classesResource, "", volumehelpers.GetPersistentVolumeClaimClass(claim))
	if err != nil {
		return nil, err
	}
	class, ok := object.(*storagev1.StorageClass)
	if !ok {
		return nil, fmt.Errorf("expected a storage class, got %T", object)
	}
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "made-for-" + claim.Namespace + "-" + claim.Name}}
	v.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
	v.Spec.StorageClassName = class.Name
	v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: class.Provisioner, VolumeHandle: v.Name}
	v.Status.Phase = corev1.VolumeBound
	if zone, ok := node.Labels[corev1.LabelTopologyZone]; ok {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone},
			}},
		}}}}
	}
	return v, nil
}

// complete acts as the volume controller once kube-scheduler has chosen a volume for a
// claim: it binds the claim.
func (a *fakeAPI) complete(action clienttesting.Action) (handled bool, result runtime.Object, err error) {
	update, ok := action.(clienttesting.UpdateAction)
	if !ok {
		return false, nil, nil
	}
	volume, ok := update.GetObject().(*corev1.PersistentVolume)
	if !ok || volume.Spec.ClaimRef == nil {
		return false, nil, nil
	}
	object, err := a.client.Tracker().Get(claimsResource, volume.Spec.ClaimRef.Namespace, volume.Spec.ClaimRef.Name)
	if err != nil {
		return false, nil, nil //nolint:nilerr // the volume has no claim
	}
	claim, ok := object.(*corev1.PersistentVolumeClaim)
	if !ok || claim.Spec.VolumeName != "" {
		return false, nil, nil
	}
	volume = volume.DeepCopy()
	volume.Status.Phase = corev1.VolumeBound
	if err := a.client.Tracker().Update(volumesResource, volume, ""); err != nil {
		return true, nil, err
	}
	bound := boundTo(claim, volume.Name)
	return true, volume, a.client.Tracker().Update(claimsResource, bound, bound.Namespace)
}

// boundTo is the claim once it is bound to the volume.
func boundTo(claim *corev1.PersistentVolumeClaim, volume string) *corev1.PersistentVolumeClaim {
	c := claim.DeepCopy()
	c.Spec.VolumeName = volume
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[volumehelpers.AnnBindCompleted] = "yes"
	c.Status.Phase = corev1.ClaimBound
	// The version must grow, because kube-scheduler keeps its assumed claim until it sees a later one.
	version, err := strconv.Atoi(c.ResourceVersion)
	if err != nil {
		version = 0
	}
	c.ResourceVersion = strconv.Itoa(version + 1)
	return c
}
