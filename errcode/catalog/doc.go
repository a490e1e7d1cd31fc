// Package catalog keeps an organisation's own error codes in one place.
//
// A catalogue binds codes such as DOC_005 to what clients understand: one of the eight codes of
// package errcode, a reason, a text for people in several languages, whether and when a retry
// makes sense. It belongs to one domain, the identity of the agent. Write it as a file:
//
//	domain: document-desk
//	language: en
//	errors:
//	  DOC_005:
//	    code: INVALID_INPUT
//	    reason: document_expired
//	    title:
//	      en: The document expired on {date}.
//	      de: Das Dokument ist am {date} abgelaufen.
//	    retriable: false        # default: the code's
//	    retryAfterMs: 60000     # default: clients back off on their own
//	    source: db:documents    # default: none
//
// or as JSON of the same shape, and read it with [Load]; or write it in Go with [New] and
// [Define]. Either way everything that is wrong is reported at once, with file and line. Then
//
//	return errs.ErrorContext(ctx, "DOC_005", catalog.Arg("date", "2 May"), errcode.Cause(err))
//
// makes the error, in the language that [WithLanguages] put into the context. The command
// errcodegen turns a catalogue into Go constants and a Markdown table.
//
// # Titles
//
// A title that is a plain string is in the catalogue's default language: the field language; else
// the first tag of the first title that is a map; else English. Every title must have a text in
// the default language, since that is the fallback. In a text, {name} is a placeholder, filled by
// [Arg]; a brace that is meant literally is doubled. An
// entry may have 200 languages, and 4 KiB of text in each.
package catalog
