package informers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// NodePools is the resource of Karpenter's NodePools.
func NodePools() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}
}

// Sink is told of objects, e.g. a [controller.Controller]. Its methods are called from several goroutines.
type Sink interface {
	// Upsert tells of objects that are new or have changed. The sink keeps them, without the fields that no plan reads.
	Upsert(objects ...metav1.Object) error
	// Delete tells of objects that are gone.
	Delete(objects ...metav1.Object) error
}

// Watch tells the sink of the objects that plans read, until ctx ends. It returns when the sink knows all that there are;
// an error names the resources that could not be listed before ctx ended. With pools, NodePools (karpenter.sh/v1) are
// watched, too; nil leaves them to the caller. A NodePool that cannot be read keeps its last state, and report is told
// why, as of objects that the sink refuses and of fields of NodePools that have no effect; report must not be nil, and is
// called by several goroutines.
func Watch(ctx context.Context, client kubernetes.Interface, pools dynamic.Interface, c Sink, report func(error)) error {
	small := &trimmer{}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(small.trim))
	watched := map[string]cache.SharedIndexInformer{
		"pods":                   factory.Core().V1().Pods().Informer(),
		"nodes":                  factory.Core().V1().Nodes().Informer(),
		"daemonsets":             factory.Apps().V1().DaemonSets().Informer(),
		"replicasets":            factory.Apps().V1().ReplicaSets().Informer(),
		"statefulsets":           factory.Apps().V1().StatefulSets().Informer(),
		"replicationcontrollers": factory.Core().V1().ReplicationControllers().Informer(),
		"services":               factory.Core().V1().Services().Informer(),
		"namespaces":             factory.Core().V1().Namespaces().Informer(),
		"persistentvolumeclaims": factory.Core().V1().PersistentVolumeClaims().Informer(),
		"persistentvolumes":      factory.Core().V1().PersistentVolumes().Informer(),
		"storageclasses":         factory.Storage().V1().StorageClasses().Informer(),
		"csinodes":               factory.Storage().V1().CSINodes().Informer(),
		"poddisruptionbudgets":   factory.Policy().V1().PodDisruptionBudgets().Informer(),
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { tell(c.Upsert, o, report) },
		UpdateFunc: func(_, o any) { tell(c.Upsert, o, report) },
		DeleteFunc: func(o any) { tell(c.Delete, o, report) },
	}
	synced := map[string]cache.InformerSynced{}
	for name, informer := range watched {
		registration, err := informer.AddEventHandler(handler)
		if err != nil {
			return fmt.Errorf("watch %s: %w", name, err)
		}
		synced[name] = registration.HasSynced
	}
	small.pods = watched["pods"].GetStore()
	factory.Start(ctx.Done())
	if pools != nil {
		custom := dynamicinformer.NewDynamicSharedInformerFactory(pools, 0)
		registration, err := custom.ForResource(NodePools()).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { tellPool(c, o, report) },
			UpdateFunc: func(_, o any) { tellPool(c, o, report) },
			DeleteFunc: func(o any) {
				if p, ok := ObjectOf(o).(*unstructured.Unstructured); ok {
					tell(c.Delete, &scheduling.NodePool{ObjectMeta: metav1.ObjectMeta{Name: p.GetName()}}, report)
				}
			},
		})
		if err != nil {
			return fmt.Errorf("watch nodepools: %w", err)
		}
		synced["nodepools"] = registration.HasSynced
		custom.Start(ctx.Done())
	}
	return WaitForSync(ctx, synced)
}

// WaitForSync waits until the event handlers have been told all objects that there are, by the names of their resources.
// An error names the resources that could not be listed before ctx ended.
func WaitForSync(ctx context.Context, synced map[string]cache.InformerSynced) error {
	var missing []string
	for name, f := range synced {
		if !cache.WaitForCacheSync(ctx.Done(), f) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("not listed before the end: %v: %w", missing, context.Cause(ctx))
	}
	return nil
}

// ObjectOf is the object that an event handler is told; of a deletion that the watch has missed it is the last known state.
func ObjectOf(o any) any {
	if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
		return gone.Obj
	}
	return o
}

// tell calls to with the object of an event, and report with its error.
func tell(to func(...metav1.Object) error, o any, report func(error)) {
	if x, ok := ObjectOf(o).(metav1.Object); ok {
		if err := to(x); err != nil {
			report(err)
		}
	}
}

// tellPool reads a NodePool by the rules of package manifest.
func tellPool(c Sink, o any, report func(error)) {
	p, ok := o.(*unstructured.Unstructured)
	if !ok {
		return
	}
	pool, warnings, err := ReadNodePool(p)
	if err != nil {
		report(err)
		return
	}
	for _, w := range warnings {
		if !w.Note {
			report(fmt.Errorf("%s: %s", w.Object, w.Message))
		}
	}
	if err := c.Upsert(pool); err != nil {
		report(err)
	}
}

// ReadNodePool reads a NodePool as the API server has it. The error names every field that cannot be read; warnings are what
// was read but has no effect.
func ReadNodePool(o *unstructured.Unstructured) (*scheduling.NodePool, []scheduling.Warning, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, nil, fmt.Errorf("NodePool %s: %w", o.GetName(), err)
	}
	read, err := manifest.Loader{}.Read("NodePool "+o.GetName(), bytes.NewReader(data))
	if err != nil {
		return nil, nil, err
	}
	if len(read.Problem.NodePools) != 1 {
		return nil, nil, fmt.Errorf("%s %s is no NodePool", o.GetKind(), o.GetName())
	}
	return read.Problem.NodePools[0], read.Warnings, nil
}
