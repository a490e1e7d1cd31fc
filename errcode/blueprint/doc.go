// Package blueprint speaks the error dialect of the BLUEPRINT skill protocol (chapter 9):
//
//	{"error": {"code": "EXECUTION_TIMEOUT", "message": "…", "details": {},
//	           "retry": {"suggested_delay_ms": 5000, "max_attempts": 3}}}
//
// An HTTP service writes it with [Handler] or [WriteError], a client reads it with [FromResponse],
// and both meet the same [errcode.Error] as agents do:
//
//	mux.Handle("/skills/", blueprint.Handler(func(w http.ResponseWriter, r *http.Request) error {
//		return fmt.Errorf("run skill: %w", err)
//	}))
//
//	if err := blueprint.FromResponse(resp); err != nil { … } // errcode.Is(err, errcode.NotFound)
//
// # Codes
//
//	VALIDATION_ERROR      400       INVALID_INPUT                               never retried
//	AUTH_REQUIRED         401       AUTH_REQUIRED                               never retried
//	PERMISSION_DENIED     403       AUTH_REQUIRED, reason permission_denied     never retried
//	SKILL_NOT_FOUND       404       NOT_FOUND                                   not retried
//	EXECUTION_TIMEOUT     504 (408) UPSTREAM_TIMEOUT                            retried
//	ENDPOINT_UNREACHABLE  502, 503  UPSTREAM_UNAVAILABLE                        retried
//	VERSION_INCOMPATIBLE  422       INVALID_INPUT, reason version_incompatible  never retried
//
// Never holds whatever the details say: beside such a code the application_error of another one is
// not retriable, and what may call itself retriable has a code that says [errcode.Code.Never].
//
// The chapter gives VALIDATION_ERROR no status, since validation is local; over HTTP it is 400.
// Of 502 and 503 the latter is sent when clients should come back. Codes of package errcode without
// one here take the nearest: GUARDRAIL_BLOCKED is sent as PERMISSION_DENIED, RATE_LIMITED and
// INTERNAL_ERROR as ENDPOINT_UNREACHABLE, the latter with max_attempts 0.
//
// # Nothing is lost
//
// What the envelope has no place for is sent in the details under "application_error", an object
// with the fields of [errcode.Data]; what can be told from the rest is left out of it. Violations
// are sent in the details under "violations". Details of the author with these two names move into
// the details of application_error. So [Envelope.Err] gives back exactly what [FromData] was given, as
// long as the envelope is not larger than [MaxBody].
package blueprint
