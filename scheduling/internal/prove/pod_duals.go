package prove

import (
	"math/big"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// PodDuals is the dual of each pod in a certificate, by namespace/name, in USD per hour rounded down: the price of its
// room at the optimum of the relaxation. A node whose pods have a lower sum than its price is too dear by about the
// difference. pods must be those of the certificate's problem, or equal ones. A pod has the highest dual of pods with
// the same constraints and requests; 0 if the certificate has none.
func PodDuals(c *certificate.Certificate, pods []*corev1.Pod) map[string]offerings.Price {
	out := make(map[string]offerings.Price, len(pods))
	if c == nil {
		return out
	}
	values := make(map[string]*big.Int, len(c.Values))
	for name, text := range c.Values {
		if n, ok := new(big.Int).SetString(text, 10); ok {
			values[name] = n
		}
	}
	byResource := c.Kind == certificate.ResourceKind || c.Kind == certificate.CoverKind
	t := podspec.NewResourceTable()
	r := podspec.RequestReader{Table: t}
	kinds := map[string]*big.Int{}
	keys := make([]string, len(pods))
	var buffer []byte
	var words []string
	for i, pod := range pods {
		requests := r.Read(&pod.Spec)
		buffer = podspec.AppendRequests(podspec.AppendSignature(buffer[:0], &pod.Spec, &words), requests)
		sum := kinds[string(buffer)]
		if keys[i] = string(buffer); byResource && sum == nil {
			sum = new(big.Int)
			for d, n := range requests {
				if v := values[string(t.Names[d])]; v != nil {
					sum.Add(sum, new(big.Int).Mul(v, big.NewInt(n)))
				}
			}
			kinds[keys[i]] = sum
		}
		if own := values[podspec.PodName(pod)]; !byResource && own != nil && (sum == nil || sum.Cmp(own) < 0) {
			kinds[keys[i]] = own
		}
	}
	for i, pod := range pods {
		sum := kinds[keys[i]]
		if sum == nil {
			continue
		}
		if sum = new(big.Int).Rsh(sum, uint(max(c.Scale, 0))); sum.IsInt64() {
			out[podspec.PodName(pod)] = offerings.Price(sum.Int64())
		}
	}
	return out
}
