package hosts

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Cluster is the existing nodes and their running pods. It is immutable: a [Change] makes another one.
type Cluster struct {
	Table *podspec.ResourceTable // of the resources of running pods; it may grow, numbers stay
	Hosts []*Host                // by name
	// Newest is, by DaemonSet, the newest of its pods that have not ended.
	Newest map[types.NamespacedName]*corev1.Pod
	// Special are the hosts without a Node object, and those with a pod that has required anti-affinity or
	// claims.
	Special []*Host
	Guards  []AntiAffinityTerm // of the special hosts, see sortGuards
}

// Host is a node with its running pods. It is immutable once it is read.
type Host struct {
	Name         string
	Node         *corev1.Node // nil where pods run on a node that is not among the nodes
	Pods         []*corev1.Pod
	Used         []int64 // total requests of the pods, by number in the cluster's table
	Ports        []podspec.HostPort
	DaemonOwners []types.NamespacedName // DaemonSets with a pod there
	Guards       []AntiAffinityTerm     // required anti-affinity terms of its pods
	Claims       []*corev1.Pod          // pods with PersistentVolumeClaims
}

// hostsPerReader is the least number of hosts of a goroutine.
const hostsPerReader = 64

// NewCluster reads the nodes and running pods of a valid problem. Pods to be placed that name a node count as
// running there.
func NewCluster(p *scheduling.Problem) *Cluster {
	k := &Cluster{Table: podspec.NewResourceTable(), Newest: map[types.NamespacedName]*corev1.Pod{}}
	at := make(map[string]*Host, len(p.Nodes))
	slab := make([]Host, len(p.Nodes))
	for i, node := range p.Nodes {
		slab[i] = Host{Name: node.Name, Node: node}
		at[node.Name] = &slab[i]
		k.Hosts = append(k.Hosts, &slab[i])
	}
	for _, pod := range p.Running {
		k.noteDaemonPod(pod)
	}
	for _, pods := range [][]*corev1.Pod{p.Running, p.Pods} {
		for _, pod := range pods {
			if !runs(pod) {
				continue
			}
			h := at[pod.Spec.NodeName]
			if h == nil {
				h = &Host{Name: pod.Spec.NodeName}
				at[h.Name] = h
				k.Hosts = append(k.Hosts, h)
			}
			h.Pods = append(h.Pods, pod)
		}
	}
	slices.SortFunc(k.Hosts, func(a, b *Host) int { return strings.Compare(a.Name, b.Name) })
	k.read(k.Hosts)
	for _, h := range k.Hosts {
		if h.Special() {
			k.Special = append(k.Special, h)
		}
	}
	k.sortGuards()
	return k
}

// Special reports whether the host restricts pods by more than its remaining room.
func (h *Host) Special() bool { return h.Node == nil || len(h.Guards) > 0 || len(h.Claims) > 0 }

// runs reports whether a pod takes room on a node.
func runs(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" && !lifecycle.Ended(pod) }

// noteDaemonPod keeps a running pod if it is the newest of its DaemonSet, because the newest shows the present
// template.
func (k *Cluster) noteDaemonPod(pod *corev1.Pod) {
	if lifecycle.Ended(pod) {
		return
	}
	for _, key := range daemonOwners(pod) {
		if old := k.Newest[key]; old == nil || newer(pod, old) {
			k.Newest[key] = pod
		}
	}
}

// daemonOwners names the DaemonSets that own a pod.
func daemonOwners(pod *corev1.Pod) []types.NamespacedName {
	var out []types.NamespacedName
	for i := range pod.OwnerReferences {
		if ref := &pod.OwnerReferences[i]; ref.Kind == "DaemonSet" {
			out = append(out, types.NamespacedName{Namespace: podspec.NamespaceOf(pod), Name: ref.Name})
		}
	}
	return out
}

// read reads the pods of hosts in parallel. Each reader has a copy of the table; numbers of resources that
// differ are mapped afterwards.
func (k *Cluster) read(hosts []*Host) {
	size := max(hostsPerReader, len(hosts)/runtime.GOMAXPROCS(0)+1)
	var readers sync.WaitGroup
	var tables []*podspec.ResourceTable
	for from := 0; from < len(hosts); from += size {
		t := k.Table.Clone()
		tables = append(tables, t)
		readers.Go(func() {
			r := podspec.RequestReader{Table: t}
			for _, h := range hosts[from:min(from+size, len(hosts))] {
				h.read(&r)
			}
		})
	}
	readers.Wait()
	for part, t := range tables {
		numbers := make([]int, len(t.Names))
		same := true
		for i, name := range t.Names {
			numbers[i] = k.Table.Number(name)
			same = same && numbers[i] == i
		}
		if same {
			continue
		}
		for _, h := range hosts[part*size : min((part+1)*size, len(hosts))] {
			used := make([]int64, len(k.Table.Names))
			for i, n := range h.Used {
				used[numbers[i]] = n
			}
			h.Used = used
		}
	}
}

// read sums up the pods of a host.
func (h *Host) read(r *podspec.RequestReader) {
	for _, pod := range h.Pods {
		requests := r.ReadRunning(pod)
		if len(h.Used) < len(requests) {
			h.Used = append(h.Used, make([]int64, len(requests)-len(h.Used))...)
		}
		for d, n := range requests {
			h.Used[d] = podspec.Plus(h.Used[d], n)
		}
		h.Ports = append(h.Ports, podspec.HostPorts(&pod.Spec)...)
		h.DaemonOwners = append(h.DaemonOwners, daemonOwners(pod)...)
		h.Guards = append(h.Guards, antiAffinityOf(pod, h.Name)...)
		if podspec.UsesClaims(pod) {
			h.Claims = append(h.Claims, pod)
		}
	}
}

// Claimants returns the running pods with PersistentVolumeClaims.
func (k *Cluster) Claimants() []*corev1.Pod {
	var out []*corev1.Pod
	for _, h := range k.Special {
		out = append(out, h.Claims...)
	}
	return out
}

// Host returns the host of a name, or nil.
func (k *Cluster) Host(name string) *Host {
	if i, ok := find(k.Hosts, name); ok {
		return k.Hosts[i]
	}
	return nil
}

// find returns the index of a host in a sorted list, or where it would be.
func find(hosts []*Host, name string) (int, bool) {
	return slices.BinarySearchFunc(hosts, name, func(h *Host, name string) int { return strings.Compare(h.Name, name) })
}

// newer orders running pods of a DaemonSet by age, then by name.
func newer(a, b *corev1.Pod) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return b.CreationTimestamp.Before(&a.CreationTimestamp)
	}
	return podspec.ComparePods(a, b) > 0
}

// AntiAffinityTerm is a required anti-affinity term of a running pod, which excludes other pods from its topology domain.
type AntiAffinityTerm struct {
	Key    string // topology key
	Target string // name of the selected pods, see [podspec.AppendTargetName]
	Node   string
	Pod    string
	By     *corev1.Pod
	Term   *corev1.PodAffinityTerm
}

// antiAffinityOf returns the required anti-affinity terms of a pod that runs on a node. The pod's spec may still name
// another node, from which it has moved.
func antiAffinityOf(pod *corev1.Pod, node string) []AntiAffinityTerm {
	a := pod.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil || len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) == 0 {
		return nil
	}
	terms := a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	out := make([]AntiAffinityTerm, len(terms))
	name := podspec.PodName(pod)
	for i := range terms {
		target := string(podspec.AppendTargetName(nil, pod, terms[i:i+1]))
		out[i] = AntiAffinityTerm{Key: terms[i].TopologyKey, Target: target, Node: node, Pod: name, By: pod, Term: &terms[i]}
	}
	return out
}

// sortGuards collects the terms of the special hosts, sorted by key, target, node and pod.
func (k *Cluster) sortGuards() {
	k.Guards = nil
	for _, h := range k.Special {
		k.Guards = append(k.Guards, h.Guards...)
	}
	slices.SortFunc(k.Guards, func(a, b AntiAffinityTerm) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Pod, b.Pod))
	})
}
