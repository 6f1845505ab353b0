package oracle

import utilfeature "k8s.io/apiserver/pkg/util/feature"

// gates are the features that plans take for granted and that this version of
// Kubernetes does not turn on by itself.
const gates = "TaintTolerationComparisonOperators=true"

// EnableFeatures turns on what plans take for granted: tolerations that compare
// numbers. Feature gates belong to the whole process, so the program calls it once,
// before the first [NewScheduler].
func EnableFeatures() error { return utilfeature.DefaultMutableFeatureGate.Set(gates) }
