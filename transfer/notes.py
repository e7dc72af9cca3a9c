"""Notes of an import about stored articles, and about articles that it leaves alone."""

from converters.articles import Note, Subject

TAKE_OVER = "To replace the stored one with the source's: --take-over SLUG."
SLUG_TAKEN = Note(
    "Left alone, because their slugs belong to other articles", advice=TAKE_OVER, subject=Subject.DECISION
)
ORIGIN_OCCUPIED = Note(
    "Left alone, because another article was imported under this path or slug before",
    advice=TAKE_OVER,
    subject=Subject.DECISION,
)
KEPT_SLUG = Note(
    "Not renamed, because other articles have the new slugs",
    advice="Choose other slugs in the source, or rename the other articles.",
    subject=Subject.DECISION,
)
DELAYED = Note(
    "Scheduled for a later time than their source has now",
    advice="To take the earlier one: --publish.",
    subject=Subject.DECISION,
)
DATED_SLUG = Note("New articles whose slug was taken, so their date was appended")
NOW_HIDDEN = Note("No longer visible, because their source withholds or postpones them")
EMPTIED = Note("Articles that lost their content, because the source has none")
ADOPTED_WITH_CHANGES = Note("Articles from before 3.0.0 that got another text from their source")
KEPT_CONTENT = Note("Edited here, so the source's text was not taken", advice="To take it: --take-over SLUG.")
KEPT_PICTURES = Note(
    "Pictures stay at their hosts", advice="Those of the old site move with --pictures-url.", subject=Subject.OLD_SITE
)
DRAFT_HERE = Note("Drafts that their source publishes", advice="To show them: flask articles publish SLUG.")
PENDING_UNPUBLISHED = Note(
    "Pending articles that no source publishes", advice="To publish them anyway: flask articles publish SLUG."
)
UNKNOWN_SOURCE = Note(
    "Published articles from before 3.0.0 that this import does not contain",
    advice="To hide them: flask articles unpublish SLUG.",
)
