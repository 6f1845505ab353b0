package packing

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/klog/v2"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// folded is a class before resources have columns.
type folded struct {
	pods     []*corev1.Pod
	requests corev1.ResourceList
	rule     int // of the list of rules
}

// fold puts pods together that ask for the same. Most classes share one of a few rules about
// where their pods may go, each of which is shown by a pod.
func fold(pods []*corev1.Pod) (out []folded, rules []*corev1.Pod, err error) {
	classes, known := map[string]int{}, map[string]int{}
	for _, pod := range pods {
		admitted := schedulingtest.Admitted(pod)
		amounts := requests(admitted)
		where, err := json.Marshal([]any{pod.Spec.NodeSelector, pod.Spec.Affinity, pod.Spec.Tolerations})
		if err != nil {
			return nil, nil, fmt.Errorf("pod %s: %w", klog.KObj(pod), err)
		}
		what, err := json.Marshal(amounts)
		if err != nil {
			return nil, nil, fmt.Errorf("pod %s: %w", klog.KObj(pod), err)
		}
		if _, ok := known[string(where)]; !ok {
			known[string(where)] = len(rules)
			rules = append(rules, admitted)
		}
		key := string(where) + string(what)
		i, ok := classes[key]
		if !ok {
			i = len(out)
			classes[key] = i
			out = append(out, folded{requests: amounts, rule: known[string(where)]})
		}
		out[i].pods = append(out[i].pods, pod)
	}
	return out, rules, nil
}

// requests returns the pod's requests, its slot included.
func requests(pod *corev1.Pod) corev1.ResourceList {
	list := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	list[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return list
}

// reader finds the options.
type reader struct {
	shop    *Shop
	classes []folded
	rules   []*corev1.Pod
	daemons []*corev1.Pod
	options []Option
}

// option adds a machine, which becomes the node, if some class may use it.
func (r *reader) option(m peer.Machine, node *corev1.Node) {
	option := Option{Machine: m, Room: r.shop.vector(node.Status.Allocatable), Admits: make([]bool, len(r.classes))}
	for _, d := range r.daemons {
		if peer.Suits(d, node) == nil {
			for j, n := range r.shop.vector(requests(d)) {
				option.Room[j] -= n
			}
		}
	}
	allowed := make([]bool, len(r.rules))
	for i, pod := range r.rules {
		allowed[i] = peer.Suits(pod, node) == nil
	}
	useful := false
	for i := range r.classes {
		option.Admits[i] = allowed[r.classes[i].rule] && fits(r.shop.Classes[i].Requests, option.Room) > 0
		useful = useful || option.Admits[i]
	}
	if useful {
		r.options = append(r.options, option)
	}
}

// fits is the number of times that the requests fit the room.
func fits(requests, room []int64) int {
	n := int64(1 << 30)
	for i, q := range requests {
		if room[i] < q {
			return 0
		}
		if q > 0 {
			n = min(n, room[i]/q)
		}
	}
	return int(n)
}
