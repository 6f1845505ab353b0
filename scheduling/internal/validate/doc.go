// Package validate reports every fault of a problem and of a policy at once, each with the
// object, the path of the field and the value, and warns of what is odd and not wrong.
package validate
