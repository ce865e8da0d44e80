"""Stories of tests/engines that a recipe does not keep, with the reason, by the idea in them."""

IN_A_PROCESS = {
    "test_killed_in_a_tool_its_calls_may_have_executed_and_the_next_answer_knows": "it needs "
    "all engines; test_recipe.py tells the same",
}
UNCOUNTED = {
    "test_what_a_provider_sends_after_the_stop_is_nobody_s": "tokens are not counted; the rest of "
    "the story is told in test_recipe.py",
}
ASKED_AGAIN = {
    "test_malformed_arguments_are_an_error_for_the_model_and_brick_nothing": "after malformed "
    "arguments the framework asks in a way that a strict provider refuses; the next turn is well",
}
AT_ONCE = dict.fromkeys(
    (
        "test_what_it_says_is_heard_as_it_comes_and_is_in_the_log",
        "test_a_stop_in_the_middle_of_a_text_is_the_last_that_is_heard_of_it",
        "test_a_new_message_takes_over",
        "test_the_last_of_three_messages_is_what_the_model_answers",
        "test_what_steers_too_late_is_the_next_turn",
        "test_a_turn_that_was_taken_back_is_in_the_log_and_not_in_the_request",
        "test_the_model_is_shown_what_the_person_saw_and_that_they_stopped_it",
        "test_what_a_provider_sends_after_the_stop_is_nobody_s",
        "test_of_what_waits_before_a_sink_nothing_leaves_and_the_one_under_way_is_named",
        "test_what_waits_for_its_pace_is_not_said_on_waking",
    ),
    "the answer comes at once",
)
REWORDED = dict.fromkeys(
    (
        "test_what_was_accepted_before_a_stop_is_never_asked_and_what_comes_after_is",
        "test_a_queue_is_asked_in_order_one_turn_each",
    ),
    "the framework puts words of its own around the person's",
)
IN_ANY_ORDER = {
    "test_of_five_calls_those_that_were_not_allowed_yet_never_begin": "the calls of one answer "
    "begin in threads, in any order",
}
RESULTS_REWORDED = {
    "test_what_is_not_allowed_is_the_model_s_to_hear_and_the_answer_goes_on": "results are told in "
    "a form of the framework's; the rest of the story is told in test_recipe.py",
}
WRONG_AND_COMPLETED = {
    "test_malformed_arguments_are_an_error_for_the_model_and_brick_nothing": "a call with wrong "
    "arguments counts as completed, with that error",
}
UNHEARD = {
    "test_what_a_tool_says_and_does_when_it_is_cut_off_is_refused": "what a model says beside "
    "calls is not heard",
}
