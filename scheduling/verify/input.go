package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// world is a problem, looked up by name.
type world struct {
	problem scheduling.Problem
	// policy holds the settings under which plans are made.
	policy scheduling.Policy
	// pods are those to be placed; others says why each other pod of the problem is not.
	pods   map[string]*tenant
	others map[string]string
	pools  map[string]*pool
	// nodes are the running and in-flight nodes.
	nodes   map[string]*node
	daemons []*daemon
	// residents are the pods that run on them.
	residents []resident
	storage   storage
	meant     meant
	// workloads counts running pods, where plans are to share workloads out.
	workloads *workloadCounts
	// faces and deduced remember what rules see of pods, and which pods belong with one.
	faces   map[string]*face
	deduced map[string]*metav1.LabelSelector
	// reservations are the machines left, by reservation id.
	reservations map[string]int
}

// resident is a pod that runs already.
type resident struct {
	face *face
	ties *ties
	node string
}

// tenant is a pod with what it needs from a node.
type tenant struct {
	name     string
	pod      *corev1.Pod
	requests amounts
	ports    []port
	wants    selector
	mounts   []mount
	face     *face
	ties     *ties
	// asked and needed are what asks and needs say, once they have been asked.
	asked, needed string
}

func newWorld(p scheduling.Problem, policy scheduling.Policy) *world {
	w := &world{
		problem:      p,
		policy:       policy,
		pods:         make(map[string]*tenant),
		others:       make(map[string]string),
		pools:        make(map[string]*pool),
		nodes:        make(map[string]*node),
		workloads:    newWorkloadCounts(),
		reservations: make(map[string]int),
		faces:        make(map[string]*face),
		deduced:      make(map[string]*metav1.LabelSelector),
	}
	w.readStorage()
	var running []*corev1.Pod
	byNode, seen := make(map[string][]*corev1.Pod), make(map[string]bool)
	for _, pod := range slices.Concat(p.Running, p.Pods) {
		if pod == nil || pod.Spec.NodeName == "" || finished(pod) || seen[objectName(pod)] {
			continue
		}
		seen[objectName(pod)] = true
		running = append(running, pod)
		byNode[pod.Spec.NodeName] = append(byNode[pod.Spec.NodeName], pod)
		w.storage.use(pod)
		w.countWorkload(pod, pod.Spec.NodeName, 1)
	}
	for _, pod := range p.Running {
		if pod != nil {
			w.others[objectName(pod)] = "is running"
		}
	}
	for _, pod := range p.Pods {
		switch {
		case pod == nil:
		case notPending(pod) != "":
			w.others[objectName(pod)] = notPending(pod)
		default:
			w.pods[objectName(pod)] = w.newTenant(pod)
		}
	}
	w.readDaemons()
	for _, np := range p.NodePools {
		if np != nil {
			w.pools[np.Name] = w.newPool(np)
		}
	}
	for _, giver := range w.pools {
		for key := range giver.given {
			for _, pl := range w.pools {
				pl.set[key] = true
			}
		}
	}
	for _, object := range p.Nodes {
		if object == nil {
			continue
		}
		n := w.newNode(object, byNode[object.Name])
		n.charge(1)
		w.nodes[n.name] = n
		for _, pod := range byNode[n.name] {
			w.residents = append(w.residents, resident{w.faceOf(pod), w.tiesOf(pod, true), n.name})
		}
	}
	w.countReservations()
	w.readMeant(running)
	return w
}

func (w *world) newTenant(pod *corev1.Pod) *tenant {
	return &tenant{
		name:     objectName(pod),
		pod:      pod,
		requests: effectiveRequests(&pod.Spec, nil),
		ports:    hostPorts(&pod.Spec),
		wants:    selectorOf(&pod.Spec),
		mounts:   w.mountsOf(pod),
		face:     w.faceOf(pod),
		ties:     w.tiesOf(pod, false),
	}
}

// needs is equal for pods that request the same.
func (t *tenant) needs() string {
	if t.needed == "" {
		var b strings.Builder
		for _, name := range names(t.requests) {
			if n := t.requests[name]; n.Sign() > 0 {
				fmt.Fprintf(&b, "%s=%v ", name, n)
			}
		}
		t.needed = b.String()
	}
	return t.needed
}

// asks is equal for pods that ask the same of a node beside room.
func (t *tenant) asks() string {
	if t.asked == "" {
		t.asked = fmt.Sprintf("%q %q%s%s", t.wants, t.binds(), tolerationText(t.pod.Spec.Tolerations), mountText(t.mounts))
	}
	return t.asked
}

// binds are the pod's ports, in a form that is equal for equal sets of them.
func (t *tenant) binds() []string {
	out := make([]string, 0, len(t.ports))
	for _, p := range t.ports {
		if everyAddress(p.ip) {
			p.ip = ""
		}
		out = append(out, p.String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// kind is pods that need and ask the same.
type kind struct {
	*tenant
	total amounts
}

// kindsOf groups pods, in order of the first of each group.
func kindsOf(pods []*tenant) []*kind {
	groups := make(map[string]*kind)
	var out []*kind
	for _, t := range pods {
		key := t.needs() + t.asks()
		k := groups[key]
		if k == nil {
			k = &kind{tenant: t, total: amounts{}}
			groups[key] = k
			out = append(out, k)
		}
		k.total.add(t.requests)
	}
	return out
}

// notPending says why a pod takes no part in a plan; "" if it does.
func notPending(pod *corev1.Pod) string {
	switch {
	case pod.Spec.NodeName != "":
		return "is bound to node " + pod.Spec.NodeName
	case finished(pod):
		return "has finished"
	case pod.DeletionTimestamp != nil:
		return "is being deleted"
	case owner(pod, "DaemonSet") != "":
		return "belongs to a DaemonSet"
	default:
		return ""
	}
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// owner returns the name of the pod's owner of that kind; "" for none.
func owner(pod *corev1.Pod, kind string) string {
	ref, _ := lo.Find(pod.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.Kind == kind })
	return ref.Name
}

// held says why no plan may place the pod, although it is pending, and names what
// stands in the way; nothing if one may.
func (t *tenant) held() (why string, names []string) {
	for _, g := range t.pod.Spec.SchedulingGates {
		why, names = "has the scheduling gate "+g.Name, append(names, g.Name)
	}
	for i := range t.pod.Spec.ResourceClaims {
		c := &t.pod.Spec.ResourceClaims[i]
		why, names = "has the resource claim "+c.Name, append(names, c.Name)
		if c.ResourceClaimName != nil {
			names = append(names, *c.ResourceClaimName)
		}
	}
	for _, m := range t.mounts {
		if m.broken != "" {
			why, names = fmt.Sprintf("uses the claim %s, which %s", m.claim, m.broken), append(names, m.claim)
		}
	}
	return why, names
}

func (t *tenant) isHeld() bool {
	why, _ := t.held()
	return why != ""
}

// countReservations reads how many machines each reservation has left: the least
// that any offering of any pool's catalog reports.
func (w *world) countReservations() {
	for _, pool := range w.sortedPools() {
		for t := range pool.catalog.All() {
			for _, o := range t.Offerings {
				if o.CapacityType != offerings.Reserved {
					continue
				}
				if n, ok := w.reservations[o.ReservationID]; !ok || o.ReservationCount < n {
					w.reservations[o.ReservationID] = o.ReservationCount
				}
			}
		}
	}
}

func (w *world) sortedPools() []*pool  { return byName(w.pools) }
func (w *world) sortedNodes() []*node  { return byName(w.nodes) }
func (w *world) sortedPods() []*tenant { return byName(w.pods) }

func byName[T any](named map[string]T) []T {
	return lo.Map(slices.Sorted(maps.Keys(named)), func(name string, _ int) T { return named[name] })
}

// entangled reports whether the pod says anything about other pods or has volumes.
func (t *tenant) entangled() bool {
	spec := &t.pod.Spec
	if len(spec.TopologySpreadConstraints) > 0 {
		return true
	}
	if a := spec.Affinity; a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
		return true
	}
	return slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil })
}

// picky reports whether the pod asks for a node by name, or for labels by which
// nobody may choose a machine. A solver may refuse to buy for it.
func (t *tenant) picky() bool {
	return slices.ContainsFunc(t.wants, func(t term) bool {
		return len(t.fields) > 0 || slices.ContainsFunc(t.exprs, func(e expression) bool { return requirements.Restricted(e.key) })
	})
}

// live reports whether the pod runs, or will, and nobody deletes it.
func live(pod *corev1.Pod) bool { return !finished(pod) && pod.DeletionTimestamp == nil }
