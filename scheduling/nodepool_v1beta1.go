package scheduling

// whenUnderutilized is what karpenter.sh/v1beta1 called [WhenEmptyOrUnderutilized].
const whenUnderutilized ConsolidationPolicy = "WhenUnderutilized"
