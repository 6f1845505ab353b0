// Package validate reports all faults of a problem and of a policy at once, each with the object, the path of
// the field and the value, and warns of input that is valid but has no effect.
//
// It owns the rules of the API server and of Karpenter's admission that decide whether an object could exist,
// and reads pod specs on the way ([Read]), because reading is bound by memory. The packages after it may rely
// on valid input: they do not check it again.
package validate
