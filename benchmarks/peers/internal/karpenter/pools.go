package karpenter

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	nodepoolutils "sigs.k8s.io/karpenter/pkg/utils/nodepool"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// nodePools are those that may launch for pending pods, in the order in which
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
			// Karpenter reads the reference without asking whether there is one.
			np.Spec.Template.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
		}
		out = append(out, np)
	}
	nodepoolutils.OrderByWeight(out)
	return out, nil
}
