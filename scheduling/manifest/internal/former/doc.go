// Package former converts NodePools of karpenter.sh/v1beta1, and Provisioners and AWSNodeTemplates of
// Karpenter up to version 0.31, to the objects that have taken their place.
//
// It owns the fields of the former API versions and the rules of conversion: the ones of Karpenter's
// conversion webhook for v1beta1, and of its guide to v1beta1 for Provisioners, with the defaults that
// Karpenter 0.31 added on admission. It promises that a converted object has Karpenter buy and remove
// the same nodes as the former one had, and that the message of a [Conversion] states the defaults that
// a reader would not expect. An object that is converted is not changed, and shares its values with the
// result.
//
// It does not know how objects are decoded, whether their values are valid, or which other objects
// there are: it is given decoded objects, and its caller reads the results like any object of the
// input.
package former
