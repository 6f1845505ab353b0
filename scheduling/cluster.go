package scheduling

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// cluster is what is known of the nodes and of the pods that run on them, whatever pods
// are to be placed. What it holds is never changed, only replaced.
type cluster struct {
	table *resourceTable // of what runs; it may grow, numbers stay
	hosts []*host        // by name
	// newest is, by DaemonSet, the youngest of its pods that have not ended.
	newest map[objectKey]*corev1.Pod
	// special are the hosts that are no nodes, and those on which some pod keeps others
	// away or has volumes.
	special []*host
	watch   *watch
}

// host is a node with the pods that run there. A host is not changed once it is made.
type host struct {
	name   string
	node   *corev1.Node // nil where pods run on a node that is not among the nodes
	pods   []*corev1.Pod
	used   []int64 // what they take together, by number of the cluster's table
	ports  []hostPort
	crew   []objectKey   // the DaemonSets that have a pod there
	guards []guard       // what keeps others away
	claims []*corev1.Pod // those with volumes that are claimed
}

// hostsPerReader is how many hosts are worth a goroutine.
const hostsPerReader = 64

// newCluster reads the nodes of a valid problem and what runs on them.
func newCluster(p *Problem) *cluster {
	k := &cluster{table: newResourceTable(), newest: map[objectKey]*corev1.Pod{}}
	at := make(map[string]*host, len(p.Nodes))
	slab := make([]host, len(p.Nodes))
	for i, node := range p.Nodes {
		slab[i] = host{name: node.Name, node: node}
		at[node.Name] = &slab[i]
		k.hosts = append(k.hosts, &slab[i])
	}
	for _, pod := range p.Running {
		k.muster(pod)
	}
	for _, pods := range [][]*corev1.Pod{p.Running, p.Pods} {
		for _, pod := range pods {
			if !runs(pod) {
				continue
			}
			h := at[pod.Spec.NodeName]
			if h == nil {
				h = &host{name: pod.Spec.NodeName}
				at[h.name] = h
				k.hosts = append(k.hosts, h)
			}
			h.pods = append(h.pods, pod)
		}
	}
	slices.SortFunc(k.hosts, func(a, b *host) int { return strings.Compare(a.name, b.name) })
	k.read(k.hosts)
	for _, h := range k.hosts {
		if h.special() {
			k.special = append(k.special, h)
		}
	}
	k.watch = newWatch(k.special)
	return k
}

// special reports whether a host has to be looked at besides the room that is left.
func (h *host) special() bool { return h.node == nil || len(h.guards) > 0 || len(h.claims) > 0 }

// runs reports whether a pod takes room on a node.
func runs(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" && !terminal(pod) }

// muster notes a running pod that may be the newest of its DaemonSet.
func (k *cluster) muster(pod *corev1.Pod) {
	if terminal(pod) {
		return
	}
	for _, key := range crewOf(pod) {
		if old := k.newest[key]; old == nil || newer(pod, old) {
			k.newest[key] = pod
		}
	}
}

// crewOf names the DaemonSets that own a pod.
func crewOf(pod *corev1.Pod) []objectKey {
	var out []objectKey
	for i := range pod.OwnerReferences {
		if ref := &pod.OwnerReferences[i]; ref.Kind == "DaemonSet" {
			out = append(out, objectKey{namespaceOf(pod), ref.Name})
		}
	}
	return out
}

// read reads what runs on hosts. Several readers share them, each with numbers of its own
// for resources that are put right in the end.
func (k *cluster) read(hosts []*host) {
	size := max(hostsPerReader, len(hosts)/runtime.GOMAXPROCS(0)+1)
	var readers sync.WaitGroup
	var tables []*resourceTable
	for from := 0; from < len(hosts); from += size {
		t := k.table.clone()
		tables = append(tables, t)
		readers.Go(func() {
			r := requestReader{table: t}
			for _, h := range hosts[from:min(from+size, len(hosts))] {
				h.read(&r)
			}
		})
	}
	readers.Wait()
	for part, t := range tables {
		numbers := make([]int, len(t.names))
		same := true
		for i, name := range t.names {
			numbers[i] = k.table.number(name)
			same = same && numbers[i] == i
		}
		if same {
			continue
		}
		for _, h := range hosts[part*size : min((part+1)*size, len(hosts))] {
			used := make([]int64, len(k.table.names))
			for i, n := range h.used {
				used[numbers[i]] = n
			}
			h.used = used
		}
	}
}

// read works out what the pods of a host take.
func (h *host) read(r *requestReader) {
	for _, pod := range h.pods {
		requests := r.readRunning(pod)
		if len(h.used) < len(requests) {
			h.used = append(h.used, make([]int64, len(requests)-len(h.used))...)
		}
		for d, n := range requests {
			h.used[d] = plus(h.used[d], n)
		}
		h.ports = append(h.ports, hostPorts(&pod.Spec)...)
		h.crew = append(h.crew, crewOf(pod)...)
		h.guards = append(h.guards, guardsOf(pod)...)
		if usesClaims(pod) {
			h.claims = append(h.claims, pod)
		}
	}
}

// claimants are the running pods with volumes that are claimed.
func (k *cluster) claimants() []*corev1.Pod {
	var out []*corev1.Pod
	for _, h := range k.special {
		out = append(out, h.claims...)
	}
	return out
}

// host returns the host of a name, or nil.
func (k *cluster) host(name string) *host {
	if i, ok := k.find(name); ok {
		return k.hosts[i]
	}
	return nil
}

// find returns the place of a host in the list, or where it would be.
func (k *cluster) find(name string) (int, bool) {
	return slices.BinarySearchFunc(k.hosts, name, func(h *host, name string) int { return strings.Compare(h.name, name) })
}
