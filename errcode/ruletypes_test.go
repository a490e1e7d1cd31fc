package errcode_test

import (
	"errors"
	"fmt"

	"github.com/a2aexec/a2aexec/errcode"
)

// Ten types and ten sentinels for rules.
type (
	typeAError struct{}
	typeBError struct{ error }
	typeCError struct{ error }
	typeDError struct{ error }
	typeEError struct{ error }
	typeFError struct{ error }
	typeGError struct{ error }
	typeHError struct{ error }
	typeIError struct{}
	typeJError struct{}
)

func (typeAError) Error() string { return "a" }
func (typeIError) Error() string { return "i" }
func (typeJError) Error() string { return "j" }

var sentinels = func() (all [10]error) {
	for i := range all {
		all[i] = fmt.Errorf("sentinel %d", i)
	}
	return all
}()

// typedRules are ten rules by type with one by identity at the end.
func typedRules() []errcode.Rule {
	return []errcode.Rule{
		errcode.OnType[typeAError](errcode.InvalidInput, "a"),
		errcode.OnType[typeBError](errcode.InvalidInput, "b"),
		errcode.OnType[typeCError](errcode.InvalidInput, "c"),
		errcode.OnType[typeDError](errcode.InvalidInput, "d"),
		errcode.OnType[typeEError](errcode.InvalidInput, "e"),
		errcode.OnType[typeFError](errcode.InvalidInput, "f"),
		errcode.OnType[typeGError](errcode.InvalidInput, "g"),
		errcode.OnType[typeHError](errcode.InvalidInput, "h"),
		errcode.OnType[typeIError](errcode.InvalidInput, "i"),
		errcode.OnType[typeJError](errcode.InvalidInput, "j"),
		errcode.OnError(sentinels[9], errcode.InvalidInput, "sentinel"),
	}
}

func as[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

func tenTimesAs(err error) bool {
	return as[typeAError](err) || as[typeBError](err) || as[typeCError](err) || as[typeDError](err) || as[typeEError](err) ||
		as[typeFError](err) || as[typeGError](err) || as[typeHError](err) || as[typeIError](err) || as[typeJError](err)
}
