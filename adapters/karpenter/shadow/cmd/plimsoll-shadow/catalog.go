package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
)

// catalog is the catalog of the flags, or the embedded one of the region of the cluster's nodes, with the prices of the flags.
func (f *flags) catalog(ctx context.Context, client kubernetes.Interface, log *slog.Logger) (*instancetypes.Catalog, error) {
	catalog, err := f.market.Catalog()
	if err == nil && catalog == nil {
		catalog, err = catalogOfNodes(ctx, client)
	}
	if err != nil {
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
	return catalog, nil
}

// catalogOfNodes is the embedded catalog of the region of the cluster's nodes.
func catalogOfNodes(ctx context.Context, client kubernetes.Interface) (*instancetypes.Catalog, error) {
	const few = 50
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: few})
	if err != nil {
		return nil, fmt.Errorf("region of the nodes: %w", err)
	}
	for i := range nodes.Items {
		region := clouds.RegionOf(&nodes.Items[i])
		if region == "" {
			continue
		}
		catalog, err := clouds.OfRegion(region)
		if err != nil {
			return nil, fmt.Errorf("node %s: %w; give instance types with prices by --catalog", nodes.Items[i].Name, err)
		}
		return catalog, nil
	}
	return nil, errors.New("--catalog: must be given, because no node has the label " + corev1.LabelTopologyRegion)
}
