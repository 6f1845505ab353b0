package karpenter

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	kwokoptions "sigs.k8s.io/karpenter/kwok/options"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	nodepoolutils "sigs.k8s.io/karpenter/pkg/utils/nodepool"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// nodePools are the pools that may launch for pending pods, in the order in which
// Karpenter tries them. Our pools have Karpenter's fields under Karpenter's names, so
// that JSON is the exact translation.
func nodePools(pools []*scheduling.NodePool) ([]*karpv1.NodePool, error) {
	var out []*karpv1.NodePool
	for _, pool := range pools {
		if pool.Spec.Replicas != nil || pool.DeletionTimestamp != nil {
			continue
		}
		text, err := json.Marshal(pool)
		if err != nil {
			return nil, fmt.Errorf("pool %s: %w", pool.Name, err)
		}
		np := &karpv1.NodePool{}
		if err := json.Unmarshal(text, np); err != nil {
			return nil, fmt.Errorf("pool %s: %w", pool.Name, err)
		}
		if np.UID == "" {
			np.UID = types.UID("nodepool/" + np.Name)
		}
		if np.Spec.Template.Spec.NodeClassRef == nil {
			// Karpenter dereferences the node class, so it must not be nil.
			np.Spec.Template.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
		}
		out = append(out, np)
	}
	nodepoolutils.OrderByWeight(out)
	return out, nil
}

// kwokEntry is one type in the file format of Karpenter's KWOK provider.
type kwokEntry struct {
	Name             string              `json:"name"`
	Offerings        []kwokOffering      `json:"offerings"`
	Architecture     string              `json:"architecture"`
	OperatingSystems []string            `json:"operatingSystems"`
	Resources        corev1.ResourceList `json:"resources"`
}

type kwokOffering struct {
	Price        float64
	Available    bool
	Requirements []karpv1.NodeSelectorRequirementWithMinValues
}

// KWOK is the catalog that Karpenter's KWOK provider sells when it is told no other, in
// the format of that provider's files. It comes out of the module that is compiled in, so
// that no file has to be found.
func KWOK() (io.Reader, error) {
	sold, err := kwok.ConstructInstanceTypes(kwokoptions.ToContext(context.Background(), &kwokoptions.Options{}))
	if err != nil {
		return nil, fmt.Errorf("karpenter's kwok provider: %w", err)
	}
	entries := make([]kwokEntry, 0, len(sold))
	for _, t := range sold {
		e := kwokEntry{
			Name:             t.Name,
			Architecture:     t.Requirements.Get(corev1.LabelArchStable).Any(),
			OperatingSystems: t.Requirements.Get(corev1.LabelOSStable).Values(),
			Resources:        t.Capacity,
		}
		for _, o := range t.Offerings {
			e.Offerings = append(e.Offerings, kwokOffering{Price: o.Price, Available: o.Available, Requirements: o.Requirements.NodeSelectorRequirements()})
		}
		entries = append(entries, e)
	}
	text, err := json.Marshal(entries)
	return bytes.NewReader(text), err
}
