package oracle

import (
	"maps"
	"slices"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	controller "k8s.io/kubernetes/pkg/controller/daemon"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// daemon is a DaemonSet together with the pod that it puts on nodes.
type daemon struct {
	set *appsv1.DaemonSet
	// spec is that of its newest running pod, which may have been changed on its way
	// through the API server; that of its template if none runs.
	spec corev1.PodSpec
}

func newDaemon(set *appsv1.DaemonSet, running []*corev1.Pod) *daemon {
	d := &daemon{set: admittedDaemonSet(set)}
	// Some defaults, such as requests from limits, come when the pod is created.
	d.spec = admittedPod(controller.NewPod(d.set, "")).Spec
	var newest *corev1.Pod
	for _, pod := range running {
		if d.owns(pod) && !terminal(pod) && (newest == nil || newer(pod, newest)) {
			newest = pod
		}
	}
	if newest != nil {
		d.spec = admittedPod(newest).Spec
	}
	return d
}

// newer orders pods by age and then by name.
func newer(a, b *corev1.Pod) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return b.CreationTimestamp.Before(&a.CreationTimestamp)
	}
	return scheduling.PodName(a) > scheduling.PodName(b)
}

// owns reports whether the pod is one of the daemon's.
func (d *daemon) owns(pod *corev1.Pod) bool {
	for i := range pod.OwnerReferences {
		ref := &pod.OwnerReferences[i]
		if ref.Kind == "DaemonSet" && ref.Name == d.set.Name && namespaceOf(pod.Namespace) == d.set.Namespace {
			return true
		}
	}
	return false
}

// daemonsOf returns the pods that DaemonSets will put on a node that exists, as the
// DaemonSet controller decides it. Daemons that are there already are left out.
func (w *world) daemonsOf(node *corev1.Node) []*corev1.Pod {
	var out []*corev1.Pod
	for _, d := range w.daemons {
		if d.runsOn(node) && !w.present(d, node) {
			out = append(out, d.podOn(node))
		}
	}
	return out
}

// daemonsOn returns the pods that DaemonSets may put on a machine that is yet to be
// bought from the catalog. A well-known label that the catalog says nothing about may
// turn up on the machine, with any value; a plan leaves room for the daemons that this
// would bring.
func (w *world) daemonsOn(node *corev1.Node, catalog *instancetypes.Catalog) []*corev1.Pod {
	var out []*corev1.Pod
	for _, d := range w.daemons {
		if d.runsOn(node) || d.mayRunOn(node, w.soldBy(catalog)) {
			out = append(out, d.podOn(node))
		}
	}
	return out
}

// runsOn asks the DaemonSet controller.
func (d *daemon) runsOn(node *corev1.Node) bool {
	runs, _ := controller.NodeShouldRunDaemonPod(logr.Discard(), node, d.set)
	return runs
}

// mayRunOn reports whether the daemon would run on the node if the provider put
// further labels on it than those that it sells machines by.
func (d *daemon) mayRunOn(node *corev1.Node, sold map[string]bool) bool {
	asked, wellKnown := wishes{}, requirements.WellKnown()
	asked.addSpec(&d.set.Spec.Template.Spec)
	choices := []map[string]string{{}}
	for _, key := range slices.Sorted(maps.Keys(asked)) {
		if _, has := node.Labels[key]; has || sold[key] || !wellKnown.Has(key) {
			continue
		}
		values := []*string{nil}
		for _, value := range append(asked[key], anyOther) {
			values = append(values, &value)
		}
		choices = combined(choices, key, values)
	}
	return slices.ContainsFunc(choices, func(choice map[string]string) bool {
		labelled := node.DeepCopy()
		maps.Copy(labelled.Labels, choice)
		return len(choice) > 0 && d.runsOn(labelled)
	})
}

// present reports whether a pod of the daemon runs on the node.
func (w *world) present(d *daemon, node *corev1.Node) bool {
	for _, pod := range w.running {
		if pod.Spec.NodeName == node.Name && d.owns(pod) {
			return true
		}
	}
	return false
}

// podOn is the daemon's pod on a node.
func (d *daemon) podOn(node *corev1.Node) *corev1.Pod {
	pod := controller.NewPod(d.set, node.Name)
	pod.Spec = *d.spec.DeepCopy()
	pod.Spec.NodeName = node.Name
	pod.Name = d.set.Name + "-on-" + node.Name
	pod.UID = types.UID(scheduling.PodName(pod))
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(d.set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))}
	return pod
}

// gates are the features that plans take for granted and that this version of
// Kubernetes does not turn on by itself.
const gates = "TaintTolerationComparisonOperators=true"

// EnableFeatures turns on the feature gates that plans need: tolerations that compare
// numbers. Feature gates belong to the whole process, so the program must call it once,
// before the first [NewScheduler].
func EnableFeatures() error { return utilfeature.DefaultMutableFeatureGate.Set(gates) }

// admittedPod is a copy of the pod as the API server would store it: with a namespace,
// a UID and its defaults, such as requests taken from limits.
func admittedPod(pod *corev1.Pod) *corev1.Pod {
	out := pod.DeepCopy()
	out.Namespace = namespaceOf(out.Namespace)
	if out.UID == "" {
		out.UID = types.UID(scheduling.PodName(out))
	}
	coredefaults.SetObjectDefaults_Pod(out)
	return schedulingtest.Admitted(out)
}

// admittedDaemonSet is a copy of the DaemonSet as the API server would store it.
func admittedDaemonSet(set *appsv1.DaemonSet) *appsv1.DaemonSet {
	out := set.DeepCopy()
	out.Namespace = namespaceOf(out.Namespace)
	appsdefaults.SetObjectDefaults_DaemonSet(out)
	return out
}
