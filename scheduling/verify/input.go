package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
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
	// stations are the running and in-flight nodes.
	stations map[string]*station
	daemons  []*daemon
	// residents are the pods that run on them.
	residents []runningPod
	storage   storage
	rules     rules
	// workloadCounts is nil until shares of workloads are asked for.
	workloads *workloadCounts
	// faces and deduced remember what rules see of pods, and which pods belong with one.
	faces   map[string]*face
	deduced map[string]*metav1.LabelSelector
	// reservations are the machines left, by reservation id.
	reservations map[string]int
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
		stations:     make(map[string]*station),
		reservations: make(map[string]int),
		faces:        make(map[string]*face),
		deduced:      make(map[string]*metav1.LabelSelector),
	}
	w.readStorage()
	running := make(map[string][]*corev1.Pod) // by node
	seen := make(map[string]bool)
	for _, pod := range slices.Concat(p.Running, p.Pods) {
		if pod == nil || pod.Spec.NodeName == "" || finished(pod) || seen[podName(pod)] {
			continue
		}
		seen[podName(pod)] = true
		running[pod.Spec.NodeName] = append(running[pod.Spec.NodeName], pod)
		w.storage.use(pod)
	}
	for _, pod := range p.Running {
		if pod != nil {
			w.others[podName(pod)] = "is running"
		}
	}
	for _, pod := range p.Pods {
		switch {
		case pod == nil:
		case notPending(pod) != "":
			w.others[podName(pod)] = notPending(pod)
		default:
			w.pods[podName(pod)] = w.newTenant(pod)
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
	for _, node := range p.Nodes {
		if node != nil {
			w.stations[node.Name] = w.newStation(node, running[node.Name])
			for _, pod := range running[node.Name] {
				w.residents = append(w.residents, runningPod{w.faceOf(pod), runningTies(pod), node.Name})
			}
		}
	}
	w.countReservations()
	w.readRules(slices.Concat(slices.Collect(maps.Values(running))...))
	return w
}

func (w *world) newTenant(pod *corev1.Pod) *tenant {
	return &tenant{
		name:     podName(pod),
		pod:      pod,
		requests: pendingRequests(&pod.Spec),
		ports:    hostPorts(&pod.Spec),
		wants:    selectorOf(&pod.Spec),
		mounts:   w.mountsOf(pod),
		face:     w.faceOf(pod),
		ties:     w.tiesOf(pod),
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

// podName is how plans name a pod.
func podName(pod *corev1.Pod) string {
	return namespaceOf(pod) + "/" + pod.Name
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
	for _, ref := range pod.OwnerReferences {
		if ref.Kind == kind {
			return ref.Name
		}
	}
	return ""
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

func (w *world) sortedPools() []*pool       { return byName(w.pools) }
func (w *world) sortedStations() []*station { return byName(w.stations) }
func (w *world) sortedPods() []*tenant      { return byName(w.pods) }

func byName[T any](named map[string]T) []T {
	list := make([]T, 0, len(named))
	for _, name := range slices.Sorted(maps.Keys(named)) {
		list = append(list, named[name])
	}
	return list
}
