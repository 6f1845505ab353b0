package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
)

// openCatalog is the catalog of the flags, with their prices.
func (f *flags) openCatalog(ctx context.Context, client kubernetes.Interface) (*instancetypes.Catalog, error) {
	catalog, err := f.listed(ctx, client)
	if err != nil || f.prices == "" {
		return catalog, err
	}
	prices, err := readFile(f.prices, instancetypes.ReadPrices)
	if err != nil {
		return nil, fmt.Errorf("--prices: %w", err)
	}
	if catalog, _, err = catalog.WithPrices(prices); err != nil {
		return nil, fmt.Errorf("--prices: %w", err)
	}
	return catalog, nil
}

// listed is the catalog of the file, or the embedded one of the region.
func (f *flags) listed(ctx context.Context, client kubernetes.Interface) (*instancetypes.Catalog, error) {
	if f.catalog != "" {
		read := instancetypes.ReadJSON
		if filepath.Ext(f.catalog) == ".csv" {
			read = instancetypes.ReadCSV
		}
		catalog, err := readFile(f.catalog, read)
		if err != nil {
			return nil, fmt.Errorf("--catalog: %w", err)
		}
		return catalog, nil
	}
	region := f.region
	if region == "" {
		var err error
		if region, err = regionOf(ctx, client); err != nil {
			return nil, err
		}
	}
	switch { // no two clouds have regions of one name
	case slices.Contains(ec2.Regions(), region):
		return ec2.Catalog(region)
	case slices.Contains(azure.Regions(), region):
		return azure.Catalog(region)
	case slices.Contains(gcp.Regions(), region):
		return gcp.Catalog(region)
	}
	return nil, fmt.Errorf("--region: no catalog of region %q is embedded; give instance types with prices by --catalog", region)
}

// regionOf is the region of the cluster's nodes.
func regionOf(ctx context.Context, client kubernetes.Interface) (string, error) {
	const few = 50
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: few})
	if err != nil {
		return "", fmt.Errorf("region of the nodes: %w", err)
	}
	for i := range nodes.Items {
		labels := nodes.Items[i].Labels
		if region := cmp.Or(labels[corev1.LabelTopologyRegion], labels[corev1.LabelFailureDomainBetaRegion]); region != "" {
			return region, nil
		}
	}
	return "", errors.New("--region: must be given, because no node has the label " + corev1.LabelTopologyRegion)
}

// readFile reads a file with the reader of its format. The error names the file.
func readFile[T any](name string, read func(io.Reader) (T, error)) (out T, err error) {
	file, err := os.Open(name)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if out, err = read(file); err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}
