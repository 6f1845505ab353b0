package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// State is a problem, looked up by name.
type State struct {
	Problem scheduling.Problem
	// Policy holds the settings under which plans are made.
	Policy *Policy
	// Pods are the pods to be placed; Others says of each other pod of the problem why it is not.
	Pods   map[string]*Pod
	Others map[string]string
	Pools  map[string]*Pool
	// Nodes are the running and in-flight nodes.
	Nodes   map[string]*Node
	Daemons Daemons
	// Running are the pods that have a node and have not finished, by name, even if the node is not there; Residents
	// are the ones on nodes that are there.
	Running   map[string]*corev1.Pod
	Residents []Resident
	Reader    *PodReader
	Types     *TypeReader
	selected  *selectedPods
	// offers are the planned nodes of pools, each described once.
	offers map[offerKey]*Node
	// Reservations are the amounts left, by reservation id.
	Reservations map[string]int64
}

// Resident is a pod that runs already.
type Resident struct {
	Identity *Identity
	Terms    *TopologyTerms
	Node     string
}

// Pod is a pod with its demands on a node.
type Pod struct {
	Name     string
	Object   *corev1.Pod
	Requests Amounts
	Ports    []Port
	Selector Selector
	Mounts   []Mount
	Identity *Identity
	Terms    *TopologyTerms
	// asked and needed are the results of Asks and Needs, "" until then.
	asked, needed string
}

// New reads a problem for plans under the settings.
func New(p scheduling.Problem, policy scheduling.Policy) *State {
	w := &State{
		Problem:      p,
		Policy:       (*Policy)(&policy),
		Pods:         make(map[string]*Pod),
		Others:       make(map[string]string),
		Pools:        make(map[string]*Pool),
		Nodes:        make(map[string]*Node),
		Running:      make(map[string]*corev1.Pod),
		Reservations: make(map[string]int64),
		offers:       make(map[offerKey]*Node),
		Types:        newTypeReader(),
	}
	w.Reader = newPodReader(&w.Problem)
	byNode := make(map[string][]*corev1.Pod)
	for _, pod := range slices.Concat(p.Running, p.Pods) {
		if pod != nil && pod.Spec.NodeName != "" && !Finished(pod) && w.Running[ObjectName(pod)] == nil {
			w.Running[ObjectName(pod)] = pod
			byNode[pod.Spec.NodeName] = append(byNode[pod.Spec.NodeName], pod)
		}
	}
	for _, pod := range p.Running {
		if pod != nil {
			w.Others[ObjectName(pod)] = "is running"
		}
	}
	for _, pod := range p.Pods {
		switch {
		case pod == nil:
		case notPending(pod) != "":
			w.Others[ObjectName(pod)] = notPending(pod)
		default:
			w.Pods[ObjectName(pod)] = w.Reader.NewPod(pod)
		}
	}
	w.Daemons = readDaemons(p.DaemonSets, p.Running)
	for _, np := range p.NodePools {
		if np != nil {
			w.Pools[np.Name] = w.newPool(np)
		}
	}
	for _, giver := range w.Pools {
		for key := range giver.Given {
			for _, pl := range w.Pools {
				pl.set[key] = true
			}
		}
	}
	for _, object := range p.Nodes {
		if object == nil {
			continue
		}
		n := w.NewNode(object, byNode[object.Name])
		w.AddNode(n)
		for _, pod := range byNode[n.Name] {
			w.Residents = append(w.Residents, Resident{w.Reader.IdentityOf(pod), w.Reader.TermsOf(pod, true), n.Name})
		}
	}
	w.countReservations()
	w.selected = readSelectedPods(w)
	return w
}

// Within is the pod if it asked for a node with that value of a label besides all else.
func (t *Pod) Within(key, value string) *Pod {
	own := *t
	own.asked, own.Selector = "", nil
	for _, w := range t.Selector {
		own.Selector = append(own.Selector, term{append(slices.Clone(w.Exprs), Expression{Key: key, op: requirements.In, values: []string{value}}), w.fields})
	}
	return &own
}

// Needs is equal for pods that request the same.
func (t *Pod) Needs() string {
	if t.needed == "" {
		var b strings.Builder
		for _, name := range Names(t.Requests) {
			if n := t.Requests[name]; n.Sign() > 0 {
				fmt.Fprintf(&b, "%s=%v ", name, n)
			}
		}
		t.needed = b.String()
	}
	return t.needed
}

// Asks is equal for pods that ask the same of a node beside room.
func (t *Pod) Asks() string {
	if t.asked == "" {
		t.asked = fmt.Sprintf("%q %q%s%s", t.Selector, t.Binds(), tolerationText(t.Object.Spec.Tolerations), mountText(t.Mounts))
	}
	return t.asked
}

// Binds are the pod's ports, in a form that is equal for equal sets of them.
func (t *Pod) Binds() []string {
	out := make([]string, 0, len(t.Ports))
	for _, p := range t.Ports {
		if everyAddress(p.ip) {
			p.ip = ""
		}
		out = append(out, p.String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Kind is pods that need and ask the same.
type Kind struct {
	*Pod
	Count int64
	Total Amounts
}

// KindsOf groups pods, in order of the first of each group.
func KindsOf(pods []*Pod) []*Kind {
	groups := make(map[string]*Kind)
	var out []*Kind
	for _, t := range pods {
		key := t.Needs() + t.Asks()
		k := groups[key]
		if k == nil {
			k = &Kind{Pod: t, Total: Amounts{}}
			groups[key] = k
			out = append(out, k)
		}
		k.Count++
		k.Total.Add(t.Requests)
	}
	return out
}

// notPending says why a pod takes no part in a plan; "" if it does.
func notPending(pod *corev1.Pod) string {
	switch {
	case pod.Spec.NodeName != "":
		return "is bound to node " + pod.Spec.NodeName
	case Finished(pod):
		return "has finished"
	case pod.DeletionTimestamp != nil:
		return "is being deleted"
	case Owner(pod, "DaemonSet") != "":
		return "is owned by a DaemonSet"
	default:
		return ""
	}
}

// Finished reports whether the pod has run to its end.
func Finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// IsMirror reports whether the pod shows a static pod of a kubelet.
func IsMirror(pod *corev1.Pod) bool {
	_, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return ok || Owner(pod, "Node") != ""
}

// Owner returns the name of the pod's owner of that kind; "" for none.
func Owner(pod *corev1.Pod, kind string) string {
	ref, _ := lo.Find(pod.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.Kind == kind })
	return ref.Name
}

// Held returns why no plan may place the pod, although it is pending, with the names of the objects that prevent it;
// "" if a plan may.
func (t *Pod) Held() (why string, names []string) {
	for _, g := range t.Object.Spec.SchedulingGates {
		why, names = "has the scheduling gate "+g.Name, append(names, g.Name)
	}
	for i := range t.Object.Spec.ResourceClaims {
		c := &t.Object.Spec.ResourceClaims[i]
		why, names = "has the resource claim "+c.Name, append(names, c.Name)
		if c.ResourceClaimName != nil {
			names = append(names, *c.ResourceClaimName)
		}
	}
	for _, m := range t.Mounts {
		if m.broken != "" {
			why, names = fmt.Sprintf("uses the claim %s, which %s", m.Claim, m.broken), append(names, m.Claim)
		}
	}
	return why, names
}

// IsHeld reports whether no plan may place the pod.
func (t *Pod) IsHeld() bool {
	why, _ := t.Held()
	return why != ""
}

// countReservations reads the amount that each reservation has left: the least
// that any offering of any pool's catalog reports.
func (w *State) countReservations() {
	for _, pool := range w.SortedPools() {
		for t := range pool.Catalog.All() {
			for _, o := range t.Offerings {
				if !o.Counted() {
					continue
				}
				if n, ok := w.Reservations[o.ReservationID]; !ok || o.ReservationCount < n {
					w.Reservations[o.ReservationID] = o.ReservationCount
				}
			}
		}
	}
}

// SortedPools are the pools in order of their names.
func (w *State) SortedPools() []*Pool { return byName(w.Pools) }

// SortedNodes are the running nodes in order of their names.
func (w *State) SortedNodes() []*Node { return byName(w.Nodes) }

// SortedPods are the pods to be placed in order of their names.
func (w *State) SortedPods() []*Pod { return byName(w.Pods) }

func byName[T any](named map[string]T) []T {
	return lo.Map(slices.Sorted(maps.Keys(named)), func(name string, _ int) T { return named[name] })
}

// NeedsGivenNode reports whether the pod asks for a node by name, or for labels by which no machine may be chosen. A planner
// may refuse to launch for it.
func (t *Pod) NeedsGivenNode() bool {
	return slices.ContainsFunc(t.Selector, func(t term) bool {
		return len(t.fields) > 0 || slices.ContainsFunc(t.Exprs, func(e Expression) bool { return requirements.Restricted(e.Key) })
	})
}

// Priority is the pod's priority, 0 if it states none.
func (t *Pod) Priority() int32 { return ValueOr(t.Object.Spec.Priority, 0) }

// Live reports whether the pod has neither finished nor been deleted.
func Live(pod *corev1.Pod) bool { return !Finished(pod) && pod.DeletionTimestamp == nil }

// Occupant is the first, by name, of the running pods that use a claim.
func (w *State) Occupant(claim string) (pod string, used bool) {
	for name, running := range w.Running {
		if (!used || name < pod) && slices.ContainsFunc(running.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && NamespaceOf(running)+"/"+v.PersistentVolumeClaim.ClaimName == claim
		}) {
			pod, used = name, true
		}
	}
	return pod, used
}

// ClaimUsers counts the pods to be placed by the claims that they use.
func (w *State) ClaimUsers() map[string]int {
	users := make(map[string]int)
	for _, t := range w.Pods {
		for _, m := range t.Mounts {
			users[m.Claim]++
		}
	}
	return users
}

// Independent reports whether the place of the pod depends on no topology term and no volume.
func (w *State) Independent(t *Pod) bool {
	return t.Terms.None() && len(t.Mounts) == 0 && !w.selected.rules.include(t.Identity)
}

// WithoutPreferences reports whether the pod is independent, and no preference concerns it either.
func (w *State) WithoutPreferences(t *Pod) bool {
	return w.Independent(t) && len(w.Reader.preferredBy(t.Object)) == 0 && !w.selected.preferences.include(t.Identity)
}

// PodsNamed returns the named pods that are to be placed.
func (w *State) PodsNamed(names []string) []*Pod {
	return lo.FilterMap(names, func(name string, _ int) (*Pod, bool) { return w.Pods[name], w.Pods[name] != nil })
}
