package karpenter

import (
	"context"
	"errors"

	"github.com/awslabs/operatorpkg/status"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

// provider is a cloud that sells what it is told to and launches nothing.
type provider map[string][]*cloudprovider.InstanceType // by NodePool

var errNothingRuns = errors.New("this cloud launches nothing")

func (provider) Create(context.Context, *karpv1.NodeClaim) (*karpv1.NodeClaim, error) {
	return nil, errNothingRuns
}
func (provider) Delete(context.Context, *karpv1.NodeClaim) error { return errNothingRuns }
func (provider) Get(context.Context, string) (*karpv1.NodeClaim, error) {
	return nil, errNothingRuns
}
func (provider) List(context.Context) ([]*karpv1.NodeClaim, error) { return nil, nil }
func (p provider) GetInstanceTypes(_ context.Context, pool *karpv1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return p[pool.Name], nil
}
func (provider) IsDrifted(context.Context, *karpv1.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil
}
func (provider) RepairPolicies() []cloudprovider.RepairPolicy { return nil }
func (provider) Name() string                                 { return "catalog" }
func (provider) GetSupportedNodeClasses() []status.Object     { return nil }
