package shadow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/plimsoll-go/plimsoll/adapters/controller/informers"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// resources are Karpenter's own, and the node classes of its clouds.
func resources() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		nodeClaims(),
		informers.NodePools(),
		{Group: "karpenter.sh", Version: "v1alpha1", Resource: "nodeoverlays"},
		{Group: "karpenter.k8s.aws", Version: "v1", Resource: "ec2nodeclasses"},
		{Group: "eks.amazonaws.com", Version: "v1", Resource: "nodeclasses"},
		{Group: "karpenter.azure.com", Version: "v1beta1", Resource: "aksnodeclasses"},
		{Group: "karpenter.k8s.gcp", Version: "v1alpha1", Resource: "gcenodeclasses"},
	}
}

// nodeClaims is the resource of Karpenter's NodeClaims.
func nodeClaims() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
}

// Watch tells the shadow of the objects of a cluster until ctx ends. It gets, lists and watches them, and nothing else. It
// returns when the shadow knows all that there are. The error says that Karpenter's resources are not served, or names
// those that could not be listed before ctx ended.
func Watch(ctx context.Context, client kubernetes.Interface, custom dynamic.Interface, s *Shadow) error {
	served, err := servedOf(client)
	if err != nil {
		return err
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(custom, 0)
	synced := map[string]cache.InformerSynced{}
	for _, r := range served {
		informer := factory.ForResource(r).Informer()
		transform, handler := trimSetting, s.settingHandler()
		if r == nodeClaims() {
			transform, handler = readNodeClaim, s.claimHandler()
		}
		if err := informer.SetTransform(transform); err != nil {
			return fmt.Errorf("watch %s: %w", r.Resource, err)
		}
		registration, err := informer.AddEventHandler(handler)
		if err != nil {
			return fmt.Errorf("watch %s: %w", r.Resource, err)
		}
		synced[r.GroupResource().String()] = registration.HasSynced
	}
	factory.Start(ctx.Done())
	if err := informers.WaitForSync(ctx, synced); err != nil {
		return err
	}
	return informers.Watch(ctx, client, nil, s, s.refuse)
}

// servedOf are the resources that the API server has. NodeClaims and NodePools must be among them.
func servedOf(client kubernetes.Interface) ([]schema.GroupVersionResource, error) {
	lists := map[schema.GroupVersion][]metav1.APIResource{}
	var out []schema.GroupVersionResource
	for _, r := range resources() {
		gv := r.GroupVersion()
		if _, asked := lists[gv]; !asked {
			list, err := client.Discovery().ServerResourcesForGroupVersion(gv.String())
			switch {
			case apierrors.IsNotFound(err):
				list = &metav1.APIResourceList{}
			case err != nil:
				return nil, fmt.Errorf("resources of %s: %w", gv, err)
			}
			lists[gv] = list.APIResources
		}
		if slices.ContainsFunc(lists[gv], func(x metav1.APIResource) bool { return x.Name == r.Resource }) {
			out = append(out, r)
		}
	}
	for _, r := range []schema.GroupVersionResource{nodeClaims(), informers.NodePools()} {
		if !slices.Contains(out, r) {
			return nil, fmt.Errorf("the API server does not serve %s of %s: is Karpenter 1.0 or later installed?", r.Resource, r.GroupVersion())
		}
	}
	return out, nil
}

// readNodeClaim is a NodeClaim of an event with the fields that are read. One that cannot be read has no fields but those
// of its metadata, so that its decision is not compared; an error would stop the watch for all NodeClaims.
func readNodeClaim(o any) (any, error) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return o, nil
	}
	u.SetManagedFields(nil)
	claim := &manifest.NodeClaim{}
	data, err := u.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(data, claim)
	}
	if err != nil {
		claim = &manifest.NodeClaim{ObjectMeta: metav1.ObjectMeta{
			Name: u.GetName(), UID: u.GetUID(), ResourceVersion: u.GetResourceVersion(), Labels: u.GetLabels(),
			CreationTimestamp: u.GetCreationTimestamp(), DeletionTimestamp: u.GetDeletionTimestamp(),
		}}
	}
	return claim, nil
}

// trimSetting removes the fields of a setting that are not read, because they are most of its size.
func trimSetting(o any) (any, error) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		u.SetManagedFields(nil)
	}
	return o, nil
}

// claimHandler tells of NodeClaims.
func (s *Shadow) claimHandler() cache.ResourceEventHandler {
	tell := func(to func(...metav1.Object) error) func(any) {
		return func(o any) {
			claim, ok := informers.ObjectOf(o).(*manifest.NodeClaim)
			if !ok {
				s.refuse(errors.New("an event of NodeClaims has no NodeClaim"))
			} else if err := to(claim); err != nil {
				s.refuse(err)
			}
		}
	}
	put, remove := tell(s.Upsert), tell(s.Delete)
	return cache.ResourceEventHandlerFuncs{AddFunc: put, UpdateFunc: func(_, o any) { put(o) }, DeleteFunc: remove}
}

// settingHandler tells of NodePools, NodeOverlays and node classes.
func (s *Shadow) settingHandler() cache.ResourceEventHandler {
	put := func(o any) {
		if u, ok := o.(*unstructured.Unstructured); ok {
			if err := s.PutSetting(u); err != nil {
				s.refuse(err)
			}
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: put, UpdateFunc: func(_, o any) { put(o) }, DeleteFunc: func(o any) {
		if u, ok := informers.ObjectOf(o).(*unstructured.Unstructured); ok {
			s.RemoveSetting(u)
		}
	}}
}
