package autoscaler

import (
	"context"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// ask has package expander choose among scale-ups, as Cluster Autoscaler does over gRPC: with the room of a node that
// daemons leave as the allocatable of its template.
func (r *run) ask(ctx context.Context, ups []*scaleUp) (*scaleUp, error) {
	request := expander.Request{Templates: map[string]*corev1.Node{}}
	prices := priceList{}
	for i, up := range ups {
		group := strconv.Itoa(i)
		o := expander.Option{NodeGroup: group, NodeCount: len(up.bins)}
		for _, c := range slices.Sorted(maps.Keys(up.classes())) {
			pods := r.shop.Classes[c].Pods // pods are handed out in order, so that those at the end are pending
			o.Pods = append(o.Pods, pods[len(pods)-up.classes()[c]:]...)
		}
		node := &corev1.Node{}
		node.Name = group
		node.Status.Allocatable = corev1.ResourceList{}
		for j, name := range r.shop.Resources {
			q := resource.NewQuantity(up.option.Room[j], resource.DecimalSI)
			if name == corev1.ResourceCPU {
				q = resource.NewMilliQuantity(up.option.Room[j], resource.DecimalSI)
			}
			node.Status.Allocatable[name] = *q
		}
		request.Options, request.Templates[group] = append(request.Options, o), node
		prices[group] = up.option.Offering.Price
	}
	choice, err := (&expander.Chooser{Prices: prices}).Choose(ctx, request)
	if err != nil {
		return nil, err
	}
	i, err := strconv.Atoi(choice.Best[0].NodeGroup)
	if err != nil {
		return nil, err
	}
	return ups[i], nil
}

// priceList is the prices of template nodes by their names.
type priceList map[string]offerings.Price

// PriceOf implements [expander.Pricer].
func (p priceList) PriceOf(node *corev1.Node) offerings.Price { return p[node.Name] }
