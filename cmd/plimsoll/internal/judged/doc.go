// Package judged has every plan of the command checked by code that shares nothing with the planner
// ([github.com/plimsoll-go/plimsoll/scheduling/verify]), before anybody sees it. Where a plan breaks a rule,
// which is a bug, as much of it is kept as passes the check, with a warning that asks to report it.
package judged
