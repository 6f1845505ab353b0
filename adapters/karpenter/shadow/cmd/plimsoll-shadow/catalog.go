package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/pager"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
)

// catalog is the catalog of the flags, or the embedded one of the region of the cluster's nodes: with the names that zones have in
// the account of the nodes, because prices and NodePools name zones by them, with the prices of the flags, and with the offerings
// that the nodes prove to be sold.
func (f *flags) catalog(ctx context.Context, client kubernetes.Interface, log *slog.Logger) (*instancetypes.Catalog, error) {
	catalog, err := f.market.Catalog()
	if err != nil {
		return nil, err
	}
	nodes, err := labelledNodes(ctx, client)
	if err != nil {
		return nil, err
	}
	if catalog == nil {
		if catalog, err = catalogOfNodes(nodes); err != nil {
			return nil, err
		}
	}
	zones, err := instancetypes.ZoneNames(nodes)
	if err != nil {
		return nil, err
	}
	if catalog, err = catalog.WithZones(zones); err != nil {
		return nil, err
	}
	changes, err := f.market.Prices(catalog)
	if err != nil {
		return nil, err
	}
	for _, prices := range changes {
		var warnings []string
		if catalog, warnings, err = clouds.WithPrices(catalog, prices); err != nil {
			return nil, fmt.Errorf("--prices %s: %w", prices.Source, err)
		}
		for _, w := range warnings {
			log.Warn(w, "file", prices.Source)
		}
	}
	return catalog.WithNodes(nodes)
}

// labelledNodes are the nodes of the cluster with their names, labels and annotations alone, listed page by page, because all of
// their fields would take more memory than the program needs afterwards.
func labelledNodes(ctx context.Context, client kubernetes.Interface) (nodes []*corev1.Node, err error) {
	pages := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return client.CoreV1().Nodes().List(ctx, o)
	})
	pages.PageSize, pages.PageBufferSize = 50, 0
	err = pages.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		if node, ok := o.(*corev1.Node); ok {
			nodes = append(nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: node.Labels, Annotations: node.Annotations}})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("regions and zones of the nodes: %w", err)
	}
	return nodes, nil
}

// catalogOfNodes is the embedded catalog of the region of the first node that states one.
func catalogOfNodes(nodes []*corev1.Node) (*instancetypes.Catalog, error) {
	i := slices.IndexFunc(nodes, func(node *corev1.Node) bool { return clouds.RegionOf(node) != "" })
	if i < 0 {
		return nil, errors.New("--catalog: must be given, because no node has the label " + corev1.LabelTopologyRegion)
	}
	catalog, err := clouds.OfRegion(clouds.RegionOf(nodes[i]))
	if err != nil {
		return nil, fmt.Errorf("node %s: %w; give instance types with prices by --catalog", nodes[i].Name, err)
	}
	return catalog, nil
}
