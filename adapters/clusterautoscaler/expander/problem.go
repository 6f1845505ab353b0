package expander

import (
	"encoding/binary"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// market is the candidates of a request as a problem: each group is a NodePool that launches one instance type, the node
// of its template.
//
// A pod may run in the groups of its options and in no other, because the autoscaler has applied kube-scheduler's filters
// for labels, taints, volumes and running pods, which the request does not have. Of the pods' own constraints those on
// the pods of one new node are kept: requests, host ports and topology terms over host names.
type market struct {
	candidates []candidate
	problem    scheduling.Problem
	// of are the indices in problem.Pods of the pods of each candidate, places the indices of the candidates of each pod,
	// as varints in ascending order.
	of     [][]int
	places [][]byte
}

// newMarket makes the problem of the pods of the candidates.
func newMarket(candidates []candidate) *market {
	m := &market{candidates: candidates, of: make([][]int, len(candidates))}
	m.problem.PoolCatalogs = map[string]*instancetypes.Catalog{}
	for i, c := range candidates {
		pool := &scheduling.NodePool{}
		pool.Name = poolName(i)
		m.problem.NodePools = append(m.problem.NodePools, pool)
		m.problem.PoolCatalogs[pool.Name] = c.catalog
	}
	m.readPods()
	return m
}

// poolName is the name of the NodePool of a candidate, because ids of groups may be URLs, which are no names of objects.
func poolName(candidate int) string { return fmt.Sprintf("option-%d", candidate) }

// readPods sets the pods of the problem, of and places.
func (m *market) readPods() {
	index := podIndex{of: map[*corev1.Pod]int{}}
	for i, c := range m.candidates {
		index.last = 0
		m.of[i] = make([]int, len(c.Pods))
		for j, pod := range c.Pods {
			p := index.next(pod)
			if p == len(m.places) {
				m.places = append(m.places, nil)
			}
			m.places[p] = binary.AppendUvarint(m.places[p], uint64(i))
			m.of[i][j] = p
		}
	}
	pods := index.pods
	affinities, copies := map[string]*corev1.NodeAffinity{}, make([]corev1.Pod, len(pods))
	for p, pod := range pods {
		affinity, ok := affinities[string(m.places[p])]
		if !ok {
			affinity = toPools(indices(m.places[p]))
			affinities[string(m.places[p])] = affinity
		}
		copyForPlan(&copies[p], pod, affinity)
		m.problem.Pods = append(m.problem.Pods, &copies[p])
	}
}

// podIndex numbers pods in the order in which they are met first.
type podIndex struct {
	pods []*corev1.Pod
	of   map[*corev1.Pod]int
	// last is the index of the last pod. The pod after it is mostly the one with the next index, because the options of a
	// request list the pods of a workload in the same order.
	last int
}

// next is the index of a pod.
func (x *podIndex) next(pod *corev1.Pod) int {
	if guess := x.last + 1; guess < len(x.pods) && x.pods[guess] == pod {
		x.last = guess
		return guess
	}
	p, ok := x.of[pod]
	if !ok {
		p = len(x.pods)
		x.of[pod] = p
		x.pods = append(x.pods, pod)
	}
	x.last = p
	return p
}

// indices reads varints.
func indices(varints []byte) (out []int) {
	for len(varints) > 0 {
		i, n := binary.Uvarint(varints)
		varints = varints[n:]
		out = append(out, int(i))
	}
	return out
}

// toPools is the affinity to the NodePools of candidates.
func toPools(candidates []int) *corev1.NodeAffinity {
	pools := corev1.NodeSelectorRequirement{Key: scheduling.NodePoolLabel, Operator: corev1.NodeSelectorOpIn}
	for _, i := range candidates {
		pools.Values = append(pools.Values, poolName(i))
	}
	return &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{pools}}},
	}}
}

// copyForPlan sets out to a pending pod with a node affinity in place of its own constraints on nodes.
func copyForPlan(out, pod *corev1.Pod, affinity *corev1.NodeAffinity) {
	out.Name, out.Namespace, out.UID, out.Labels = pod.Name, pod.Namespace, pod.UID, pod.Labels
	from := &pod.Spec
	out.Spec = corev1.PodSpec{
		Containers: from.Containers, InitContainers: from.InitContainers, Overhead: from.Overhead, Resources: from.Resources,
		HostNetwork: from.HostNetwork, Affinity: &corev1.Affinity{NodeAffinity: affinity},
	}
	for _, c := range from.TopologySpreadConstraints {
		if c.TopologyKey == corev1.LabelHostname && c.WhenUnsatisfiable == corev1.DoNotSchedule {
			out.Spec.TopologySpreadConstraints = append(out.Spec.TopologySpreadConstraints, c)
		}
	}
	if from.Affinity == nil {
		return
	}
	if a := from.Affinity.PodAffinity; a != nil {
		out.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: overHosts(a.RequiredDuringSchedulingIgnoredDuringExecution)}
	}
	if a := from.Affinity.PodAntiAffinity; a != nil {
		out.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: overHosts(a.RequiredDuringSchedulingIgnoredDuringExecution)}
	}
}

// overHosts are the terms over host names.
func overHosts(terms []corev1.PodAffinityTerm) (out []corev1.PodAffinityTerm) {
	for _, t := range terms {
		if t.TopologyKey == corev1.LabelHostname {
			out = append(out, t)
		}
	}
	return out
}
