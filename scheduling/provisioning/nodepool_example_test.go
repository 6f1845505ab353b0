package provisioning_test

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// A manifest of v1beta1 comes back in the form of v1, and what is not known is named.
func ExampleDecodeNodePool() {
	pool, warnings, err := scheduling.DecodeNodePool([]byte(`
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      requirements:
        - {key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}
      kubelet: {maxPods: 20}
      provider: {instanceProfile: nodes}
  disruption:
    consolidationPolicy: WhenUnderutilized
    expireAfter: 168h
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pool.Name, pool.Spec.Disruption.ConsolidationPolicy, pool.Spec.Template.Spec.ExpireAfter)
	fmt.Println(pool.Annotations[scheduling.KubeletAnnotation])
	for _, w := range warnings {
		fmt.Printf("%s: %s\n", w.Object, w.Message)
	}
	// Output:
	// general WhenEmptyOrUnderutilized 168h
	// {"maxPods":20}
	// NodePool/general: spec.template.spec.provider is not known and was ignored
}
