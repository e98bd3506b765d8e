"""From numbers to judgement: verdicts and their words, cautions, and claims of papers."""
