package expander

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// plannedPrices is the part of the price of its node that each pod causes in a plan, in USD per hour: the price is divided
// in proportion to the prices that the pods have on full nodes, see fullPrices. E.g. pods that fill up a node with a GPU,
// and could run on nodes without one, pay for little of it. Pods without a node have 0, because the plan says nothing about
// their price.
func (m *market) plannedPrices(plan *scheduling.Plan) []float64 {
	pods := m.problem.Pods
	index := make(map[string]int, len(pods))
	for i, pod := range pods {
		index[scheduling.PodName(pod)] = i
	}
	full, prices := m.fullPrices(), make([]float64, len(pods))
	for _, launch := range plan.Launches {
		total := 0.0
		for _, name := range launch.Pods {
			total += full[index[name]]
		}
		for _, name := range launch.Pods {
			p := index[name]
			if total > 0 {
				prices[p] = launch.Price.USD() * full[p] / total
			} else {
				prices[p] = launch.Price.USD() / float64(len(launch.Pods))
			}
		}
	}
	return prices
}

// fullPrices is the price of each pod on a node full of equal pods, in the group where this is cheapest, in USD per hour.
// Parts of pods count: a pod that requests a third of a node's CPU and half of its memory costs half of the node.
func (m *market) fullPrices() []float64 {
	resources := map[corev1.ResourceName]bool{}
	for _, c := range m.candidates {
		for name := range c.room {
			resources[name] = true
		}
	}
	columns := slices.Sorted(maps.Keys(resources))
	rooms := make([][]float64, len(m.candidates))
	for i, c := range m.candidates {
		rooms[i] = vector(columns, c.room)
	}
	known := map[string]float64{}
	prices := make([]float64, len(m.problem.Pods))
	var key []byte
	for p, requests := range provisioning.PodRequests(m.problem.Pods) {
		v := vector(columns, requests)
		key = key[:0]
		for _, x := range v {
			key = binary.BigEndian.AppendUint64(key, math.Float64bits(x))
		}
		key = append(key, m.places[p]...)
		price, ok := known[string(key)]
		if !ok {
			price = math.Inf(1)
			for _, i := range indices(m.places[p]) {
				price = min(price, m.candidates[i].price.USD()*share(v, rooms[i]))
			}
			known[string(key)] = price
		}
		prices[p] = price
	}
	return prices
}

// vector is the amounts of resources in columns.
func vector(columns []corev1.ResourceName, list corev1.ResourceList) []float64 {
	out := make([]float64, len(columns))
	for i, name := range columns {
		if q, ok := list[name]; ok {
			out[i] = q.AsApproximateFloat64()
		}
	}
	return out
}

// share is the largest share of a resource of a room that is requested.
func share(requests, room []float64) float64 {
	largest := 0.0
	for i, q := range requests {
		if q > 0 {
			largest = max(largest, q/room[i])
		}
	}
	return largest
}
