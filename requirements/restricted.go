package requirements

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Restricted reports whether users may not set a label of that key on nodes or
// require it in a NodePool, because its value follows from where and how a node
// is bought: the host name, and every key in the domains of Karpenter and its
// providers (karpenter.sh, karpenter.k8s.aws, karpenter.azure.com,
// karpenter.kwok.sh, and their subdomains) that is not among [WellKnown]. The
// domains of Kubernetes itself are open.
func Restricted(key string) bool {
	key = NormalizeKey(key)
	if key == corev1.LabelHostname {
		return true
	}
	if wellKnown.Has(key) {
		return false
	}
	domain, _, found := strings.Cut(key, "/")
	return found && restrictedDomain(domain)
}

func restrictedDomain(domain string) bool {
	for _, d := range []string{"karpenter.sh", "karpenter.k8s.aws", "karpenter.azure.com", "karpenter.kwok.sh"} {
		if parent, ok := strings.CutSuffix(domain, d); ok && (parent == "" || strings.HasSuffix(parent, ".")) {
			return true
		}
	}
	return false
}
