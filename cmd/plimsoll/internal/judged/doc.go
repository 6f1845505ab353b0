// Package judged has every plan of the command checked by code that shares nothing with the planner
// ([github.com/plimsoll-go/plimsoll/scheduling/verify]), before it is printed. A plan that breaks a rule is a bug:
// the part of it that passes the check is kept, with a warning that asks to report the bug.
package judged
